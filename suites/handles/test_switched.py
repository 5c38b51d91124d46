"""`with` blocks of handles that are left by an exception, and what goes on after them."""

from dataclasses import replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, Remove
from fixtures.play.trace import Event, Trace
from suites.shapes import plans_with

LEFT = Event("raises", ("remove", "Boom"))


@st.composite
def failing(draw: Any) -> Plan:
    """Plans in which each hook that is removed is removed by a block that an exception leaves."""
    plan = draw(plans_with("everywhere", "remove", "modes", kinds=HOOK_KINDS, least=2, most=5, runs=3))
    steps = [replace(step, leave=True, failing=True) if isinstance(step, Remove) else step for step in plan.steps]
    assume(steps != [*plan.without(Remove).steps])
    return replace(plan, steps=tuple(steps))


@clause(
    "handles.switched.failing_block",
    says="An exception goes on unchanged from the with block of a handle, and only that handle's hook is removed.",
    source="docs: torch.utils.hooks.RemovableHandle",
    asked="exception inside context manager swallowed or propagated do other callbacks remain registered",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(plan=failing())
def test_failing_block(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    removed = tuple(Remove(step.label) if isinstance(step, Remove) else step for step in plan.steps)
    assert Trace(event for event in trace if event != LEFT) == subject.play(replace(plan, steps=removed))
    # Where torch refuses to register a hook there is no handle to leave.
    refused = "hook" in [step for step, _ in trace.raised()]
    assert refused or trace.count(LEFT) == sum(isinstance(step, Remove) for step in plan.steps)
