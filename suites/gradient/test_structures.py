"""Tensors that modules return in lists, dicts and objects: hooks on them act as on any other."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import TENSOR_DOCS


@clause(
    "gradient.structures.in_any",
    says="A tensor hook on a tensor that a module returns in a list, a dict or an object can replace its gradient.",
    where="backward() reaches that tensor",
    source=TENSOR_DOCS,
)
@given(plan=plans(kinds=("tensor",), does=("scale",), on=("output",), inputs=(1, 2), outputs=(1, 2), structures=True))
def test_in_any(subject: Subject, plan: Plan) -> None:
    assert not subject.holds(plan).raised()
