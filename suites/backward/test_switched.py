"""Backward hooks of modules that go to eval mode, of frozen parameters, and after a pass that failed."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan

KINDS = ("backward", "full_backward", "full_backward_pre")


@clause(
    "backward.switched.any_mode",
    says="eval() does not stop full or legacy backward hooks, or full backward pre-hooks, of modules that are called.",
    where="forward makes new outputs",
    source="measured",
    about=apis(KINDS, everywhere=True),
)
@given(plan=plans(kinds=KINDS, does=("scale",), inputs=(1, 2), outputs=(1, 2), everywhere=True, runs=3, modes=True))
def test_any_mode(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.switched.after_failure",
    says="If a module's backward hook raises once, that stops no hook of a later forward and its backward().",
    see="backward.errors.stale_pre",
    source="measured",
    about=apis(KINDS, everywhere=True),
)
@given(plan=plans(kinds=KINDS, does=("raise", "scale"), everywhere=True, least=2, runs=3, modes=True))
def test_after_failure(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
