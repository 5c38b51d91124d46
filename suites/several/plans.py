"""Plans with hooks of several tensors, on a product that two products use, and their gradients."""

from typing import Any, Dict, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import NUMBERS
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Parallel, Plan, hooks_of
from suites.shapes import LOOKS

#: Between the leaves and the two tensors that a pass begins at: the factor that both products have.
INNER = "m1>0"
LEAVES = ("x0", "m1.weight", "m3.weight", "m4.weight")
ROOTS = ("m3>0", "m4>0")
LISTED = (*LEAVES, INNER)
#: How gradients come in a pass that begins at the first root.
IN_TURN = (ROOTS[:1], ("m3.weight",), (INNER,), ("x0", "m1.weight"))
#: One to four tensors, one of them perhaps twice.
SOME = st.lists(st.sampled_from(LISTED), min_size=1, max_size=4).map(tuple)
BOTH = st.tuples(NUMBERS, NUMBERS)
FIRST, SECOND = st.tuples(NUMBERS, st.none()), st.tuples(st.none(), NUMBERS)


def on_products(steps: Any) -> Any:
    """Plans: h = u * x, and the outputs are v * h and w * h; `steps` is a strategy for what happens."""
    return st.builds(
        lambda u, v, w, x, steps: Plan(
            Chain(
                "m0",
                (Leaf("m1", "scale", (u,)), Parallel("m2", (Leaf("m3", "scale", (v,)), Leaf("m4", "scale", (w,))))),
            ),
            (Input(x),),
            steps,
        ),
        NUMBERS,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        steps,
    )


def several(kind: str, names: Sequence[str], label: str = "h", do: Tuple[Any, ...] = ()) -> Hook:
    """One hook on these tensors."""
    return Hook(kind, names[0], label, do, also=tuple(names[1:]))


def passes(grads: Any, least: int = 1, most: int = 1) -> Any:
    """Strategies for so many passes over one graph."""
    return st.lists(st.builds(Backward, grads), min_size=least, max_size=most).map(tuple)


def hooked(kind: Any, names: Any, passes: Any, do: Any = LOOKS) -> Any:
    """Steps: one hook of a `kind` or of a strategy for one; on leaves alone it may be there before the forward."""

    def steps(early: bool, kind: str, names: Any, do: Any, passes: Any) -> Tuple[Any, ...]:
        hook = several(kind, names, do=do)
        first = (hook, Forward()) if early and INNER not in names and not set(ROOTS) & set(names) else (Forward(), hook)
        return (*first, *passes)

    kinds = st.just(kind) if isinstance(kind, str) else kind
    return st.builds(steps, st.booleans(), kinds, names, do, passes)


def gradients(plan: Plan, start: Any) -> Dict[str, Any]:
    """The gradient of each tensor in a pass that begins with these two; None where the pass does not reach it."""
    (u,), (v,), (w,) = (leaf.values for leaf in (plan.net.children[0], *plan.net.children[1].children))
    x, (one, two) = plan.inputs[0].value, start
    inner = (one or 0) * v + (two or 0) * w
    weights = {"m3.weight": one and one * u * x, "m4.weight": two and two * u * x}
    return {"x0": inner * u, "m1.weight": inner * x, INNER: inner, "m3>0": one, "m4>0": two, **weights}


def starts(plan: Plan) -> List[Any]:
    """What each backward of a plan begins with."""
    return [step.grads for step in plan.steps if isinstance(step, Backward)]


def listed(plan: Plan) -> List[str]:
    """The tensors of the hook h, in order."""
    return [name for hook in hooks_of(plan) if hook.label == "h" for name in hook.targets]
