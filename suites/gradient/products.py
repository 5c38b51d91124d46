"""Plans with hooks on the node of a product or of a sum."""

from typing import Any, List, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.plan.grammar import Backward, Forward, Give, Hook, Input, Leaf, Plan, Scale, hooks_of

KINDS = ("node", "node_pre")
#: The kinds of hook that y = weight * x can have, and where.
PLACES = {"tensor": ("x0", "m0>0"), "post_accumulate": ("x0",), "node": ("m0>0",), "node_pre": ("m0>0",)}
LOOKS = st.just(())
SCALES = st.builds(lambda by: (Scale(by),), FACTORS)
WRONG = LOOKS | st.sampled_from([(Give("list"),), (Give("longer"),), (Give("number"),)])
NONES = LOOKS | st.just((Give("nones"),))


def on_product(kinds: Tuple[str, ...], actions: Any, looking: Tuple[str, ...] = ()) -> Any:
    """Plans with hooks on the node of a product, x0 * x1, or of a sum; those of some kinds only look."""
    hooks = st.tuples(st.sampled_from(kinds), actions)
    hooks = hooks | st.tuples(st.sampled_from(looking), st.just(())) if looking else hooks
    return st.builds(
        lambda op, values, hooks, grads: Plan(
            Leaf("m0", op),
            tuple(Input(value) for value in values),
            (
                Forward(),
                *(Hook(kind, "m0>0", f"h{place}", do) for place, (kind, do) in enumerate(hooks)),
                *(Backward((grad,), retain_graph=True) for grad in grads),
            ),
        ),
        st.sampled_from(["mul", "add"]),
        st.lists(NUMBERS, min_size=2, max_size=2),
        st.lists(hooks, min_size=1, max_size=4),
        st.lists(NUMBERS, min_size=1, max_size=2),
    )


def starts(plan: Plan) -> List[int]:
    """The gradient that each backward pass begins with."""
    return [step.grads[0] or 0 for step in plan.steps if isinstance(step, Backward)]


def both(plan: Plan) -> bool:
    """Whether the hooks of the plan are of two kinds."""
    return len({hook.kind for hook in hooks_of(plan)}) == 2


def acts(plan: Plan) -> bool:
    """Whether a hook of the plan does more than look."""
    return any(hook.do for hook in hooks_of(plan, *KINDS))
