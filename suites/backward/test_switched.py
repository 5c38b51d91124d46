"""Backward hooks of modules that go to eval mode, and after a pass that failed."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.draw.contract import contract_drawn_for
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Plan, Raise, Train, hooks_of
from fixtures.play.trace import Trace
from suites.backward.plans import EVERY_KIND, MAYBE_SCALE, PAIR, row
from suites.names import BACKWARD
from suites.tensors import in_some_mode


@clause(
    "backward.switched.any_mode",
    says="eval() does not stop full or legacy backward hooks, or full backward pre-hooks, of modules that are called.",
    source="measured",
    asked="do hooks work with model eval or only train mode grad cam inference dropout batchnorm",
    about=apis(BACKWARD, everywhere=True),
)
@given(plan=in_some_mode(plans(kinds=BACKWARD, inputs=(1, 2), outputs=(1, 2), everywhere=True, runs=3)))
def test_any_mode(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == subject.play(plan.without(Train)).calls()


@st.composite
def failing_once(draw: Any) -> Plan:
    """Hooks of one kind on two modules or on all, one of which raises in its first call; then a second pass."""
    kind, places = draw(EVERY_KIND), ["m1", "m2"] + ["*"] * contract_drawn_for().global_forward_hooks
    does = draw(st.lists(MAYBE_SCALE, max_size=3))
    does.insert(draw(st.integers(0, len(does))), (Raise(first=1),))
    hooks = [Hook(kind, draw(st.sampled_from(places)), f"h{place}", do) for place, do in enumerate(does)]
    passes = [step for _ in range(2) for step in (Forward(), Backward((draw(NUMBERS),)))]
    return Plan(row(draw(PAIR)), (Input(3),), (*hooks, *passes))


@clause(
    "backward.switched.after_failure",
    says="If a module's backward hook raises once, that stops no hook of a later forward and its backward().",
    see="backward.errors.stale_pre",
    source="measured",
    asked="caught exception from hook and continued next training step are hooks still working or broken state",
    about=apis(BACKWARD, everywhere=True),
)
@given(plan=failing_once())
def test_after_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    calm = [replace(hook, do=()) if hook.do == (Raise(first=1),) else hook for hook in hooks_of(plan)]
    later = subject.play(replace(plan, steps=(*calm, *plan.steps[-2:]))).calls()
    assert [step for step, _ in trace.raised()] == ["backward"]
    assert Trace(trace[[event.what for event in trace].index("raises") :]).calls() == later
