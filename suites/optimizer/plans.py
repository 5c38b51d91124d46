"""Plans of one module and its optimizer, with step hooks."""

from typing import Any, Dict, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import NUMBERS
from fixtures.families.optimizer_step import Optimize
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, hooks_of
from suites.shapes import LOOKS

PRE, POST = KINDS = ("step_pre", "step_post")
PLACES = ("o", "o*")
CLOSURES = st.builds(Optimize, st.sampled_from(("", "args", "kwargs")))
ONE = st.tuples(CLOSURES)


def hooks(
    kinds: Sequence[str] = KINDS, on: Sequence[str] = PLACES, do: Any = LOOKS, least: int = 1, most: int = 5
) -> Any:
    """Step hooks in any order."""
    each = st.tuples(st.sampled_from(kinds), st.sampled_from(on), do)
    return st.lists(each, min_size=least, max_size=most).map(
        lambda found: tuple(Hook(kind, on, f"h{place}", do) for place, (kind, on, do) in enumerate(found))
    )


def stepped(hooks: Any, after: Any = ONE) -> Any:
    """Plans of w * x + b with hooks, one pass, and then steps."""
    return st.builds(
        lambda w, b, x, grad, hooks, after: Plan(
            Leaf("m0", "affine", (w, b)), (Input(x, grad=False),), (*hooks, Forward(), Backward((grad,)), *after)
        ),
        *[NUMBERS] * 4,
        hooks,
        after,
    )


def steps(count: int) -> Any:
    """So many steps, each with a closure or without."""
    return st.tuples(*[CLOSURES] * count)


def labels(plan: Plan, kind: str, on: str) -> List[str]:
    return [hook.label for hook in hooks_of(plan, kind) if hook.on == on]


def in_order(plan: Plan) -> Tuple[List[str], List[str]]:
    """The hooks of a step as they are called: those before it, and those behind it."""
    return labels(plan, PRE, "o*") + labels(plan, PRE, "o"), labels(plan, POST, "o") + labels(plan, POST, "o*")


def by_gradients(plan: Plan, by: int) -> Dict[str, int]:
    """The parameters less so many times their gradients."""
    w, b = plan.net.values
    grad = next(step.grads[0] for step in plan.steps if isinstance(step, Backward))
    return {"m0.weight": w - grad * plan.inputs[0].value * by, "m0.bias": b - grad * by}


def left(trace: Any) -> List[Any]:
    """The parameters after each step."""
    return [event.seen[0] for event in trace if event.what == "stepped"]
