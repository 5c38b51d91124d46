"""Many calls of a module, many modules in each other, and many entries in what a forward hook returns."""

from hypothesis import given

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan
from suites.names import FORWARD

ABOUT = ("register_forward_hook", "register_forward_pre_hook")


@clause(
    "output.many.calls",
    says="Hooks around forward run in each call of their module, however many and however deep.",
    source="measured",
)
@given(plan=plans(kinds=FORWARD, depth=2, everywhere=True, runs=3, backward=False, many=4))
def test_calls(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "output.many.entries",
    says="A forward hook may return a tuple of any length; what comes next is given all its entries.",
    source="measured",
    about="register_forward_hook",
)
@given(
    plan=plans(kinds=("forward",), does=("entries", "scale"), ops=("many",), outputs=(1, 3), depth=1, most=3, many=4)
)
def test_entries(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
