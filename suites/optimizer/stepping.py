"""Plans and optimizers for the clauses of step hooks."""

from typing import Any, Dict, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.families.optimizer_step import Optimize
from fixtures.plan.grammar import Backward, Forward, Hook, InPlace, Input, Leaf, Plan, Scale, hooks_of

PRE_HOOK = "docs: torch.optim.Optimizer.register_step_pre_hook"
POST_HOOK = "docs: torch.optim.Optimizer.register_step_post_hook"
GLOBAL = 'docs: torch.optim.optimizer.register_optimizer_step_pre_hook "Register a pre hook common to all optimizers"'
BEFORE = f'{PRE_HOOK} "which will be called before optimizer step"'
AFTER = f'{POST_HOOK} "which will be called after optimizer step"'
GIVEN = f'{PRE_HOOK} "hook(optimizer, args, kwargs) -> None or modified args and kwargs"'
REPLACES = f'{PRE_HOOK} "the transformed values are returned as a tuple containing the new_args and new_kwargs"'
REMOVES = f'{PRE_HOOK} "a handle that can be used to remove the added hook by calling"'
CODE = "code: torch/optim/optimizer.py"

OWN = "torch.optim.Optimizer.register_step_pre_hook"
EVERYWHERE = "torch.optim.optimizer.register_optimizer_step_pre_hook"
ALL = (
    *("register_step_pre_hook", "register_step_post_hook"),
    *("register_optimizer_step_pre_hook", "register_optimizer_step_post_hook"),
)

PRE, POST = KINDS = ("step_pre", "step_post")
PLACES = ("o", "o*")
LOOKS = st.just(())
CHANGES = st.builds(Scale, FACTORS) | st.builds(InPlace, FACTORS)
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


# --- without plans -----------------------------------------------------------------------------

#: Optimizers of torch that every release has.
NAMES = st.sampled_from(["SGD", "Adam", "RMSprop", "Adagrad"])
WHEN = st.sampled_from(["pre", "post"])


def optimizer(name: str = "SGD", start: float = 1.0, grad: float = 1.0) -> Any:
    """An optimizer of one parameter with a gradient, and a rate of 1."""
    import torch

    weight = torch.nn.Parameter(torch.tensor(float(start), dtype=torch.float64))
    weight.grad = torch.tensor(float(grad), dtype=torch.float64)
    return getattr(torch.optim, name)([weight], lr=1.0)


def weight_of(one: Any) -> Any:
    """Its parameter."""
    return one.param_groups[0]["params"][0]


def counting(one: Any, whens: Sequence[str]) -> List[Any]:
    """Put a hook on an optimizer for each of these, and return what will have the number of each call."""
    calls: List[Any] = []
    for number, when in enumerate(whens):
        getattr(one, f"register_step_{when}_hook")(lambda *given, number=number: calls.append(number))
    return calls
