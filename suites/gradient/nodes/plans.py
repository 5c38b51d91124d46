"""Plans with hooks on the node of a product or of a sum."""

from hypothesis import strategies as st

from fixtures.plan.grammar import Plan, ReturnWrong, hooks_of
from suites.shapes import LOOKS

KINDS = ("node", "node_pre")
NONES = LOOKS | st.just((ReturnWrong("nones"),))


def both(plan: Plan) -> bool:
    """Whether the hooks of the plan are of two kinds."""
    return len({hook.kind for hook in hooks_of(plan)}) == 2


def acts(plan: Plan) -> bool:
    """Whether a hook of the plan does more than look."""
    return any(hook.do for hook in hooks_of(plan, *KINDS))
