"""`with` blocks of handles that are left by an exception, and what goes on after them."""

from hypothesis import given

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, Remove
from suites.shapes import plans_with


@clause(
    "handles.switched.failing_block",
    says="An exception goes on unchanged from the with block of a handle, and only that handle's hook is removed.",
    source="docs: torch.utils.hooks.RemovableHandle",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(plan=plans_with("everywhere", "remove", "modes", kinds=HOOK_KINDS, least=2, most=5, runs=3))
def test_failing_block(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = [step for step in plan.steps if isinstance(step, Remove) and step.failing]
    assert len([step for step, _ in trace.raised() if step == "remove"]) <= len(left)
