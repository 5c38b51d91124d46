"""Any modules with any hooks of saving, loading and registering, and any script of such steps."""

from hypothesis import given

from fixtures.clause.clause import clause
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.state.kinds import KINDS
from fixtures.state.plan import StatePlan

ABOUT = tuple(sorted({kind.api for kind in KINDS.values()}))


@clause(
    "together.state.everything",
    says="Every plan of the grammar of saving, loading and registering leaves the trace of the model.",
    source="measured",
    checks_model=True,
)
@given(program=programs(most=5, runs=5))
def test_everything(subject: Subject, program: StatePlan) -> None:
    subject.holds(program)
