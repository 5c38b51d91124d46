"""Tensors that modules return in lists, dicts and objects keep their gradients too."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import KEPT


@clause(
    "retain.structures.in_any",
    says="retain_grad() keeps the gradient of an inner tensor that a module returns in a list, a dict or an object.",
    where="the loss uses that tensor",
    source=KEPT,
)
@given(
    plan=plans(kinds=("tensor",), on=("output",), inputs=(1, 2), outputs=(1, 2), least=0, retain=True, structures=True)
)
def test_in_any(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
