"""`with` blocks of handles that are left by an exception, and what goes on after them."""

from hypothesis import given

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan, Remove


@clause(
    "handles.switched.failing_block",
    says="An exception leaves the with block of a handle as it is, and its hook, no other one, is removed.",
    source="docs: torch.utils.hooks.RemovableHandle",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(
    plan=plans(
        kinds=HOOK_KINDS, does=("scale",), depth=1, least=2, most=5, everywhere=True, remove=True, runs=3, modes=True
    )
)
def test_failing_block(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    left = [step for step in plan.steps if isinstance(step, Remove) and step.failing]
    assert len([step for step, _ in trace.raised() if step == "remove"]) <= len(left)
