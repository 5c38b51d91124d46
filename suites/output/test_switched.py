"""Hooks around forward in train and eval mode, and after a call that failed."""

from dataclasses import replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Plan, Raise, hooks_of
from suites.names import FORWARD, FORWARD_HOOK
from suites.shapes import called_around, plans_with

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
switched = partial(plans_with, "everywhere", "options", "modes", kinds=FORWARD, backward=False)


@clause(
    "output.switched.any_mode",
    says="A successful call runs the module's forward hooks and pre-hooks in train and eval mode, also under no_grad.",
    source=f'{FORWARD_HOOK} "called every time after :func:`forward` has computed"',
    asked="do hooks work during validation inference model.eval torch.inference as well as training difference",
    see=("output.layers.fast_path_global",),
)
@given(plan=switched("copies", "no_grad", runs=3))
def test_any_mode(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == called_around(plan)


@st.composite
def failing_first(draw) -> Plan:
    """Hooks around a forward that is called twice, one of which raises in its first call."""
    plan = draw(switched(least=2, most=5))
    culprit = draw(st.sampled_from(hooks_of(plan)))
    steps = [replace(step, do=(Raise(first=1),)) if step is culprit else step for step in plan.steps]
    return replace(plan, steps=(*steps, Forward()))


@clause(
    "output.switched.after_failure",
    says="After a call that a forward hook or pre-hook made fail, the next call runs the hooks from the first one on.",
    source="measured",
    asked="exception leaves hooks in broken state restart after oom retry batch do they resume midway",
)
@given(plan=failing_first())
def test_after_failure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    line = called_around(replace(plan, steps=(*hooks_of(plan), Forward())))
    (culprit,) = [hook.label for hook in hooks_of(plan) if hook.do == (Raise(first=1),)]
    assert trace.raised() == [("forward", "Boom")]
    assert trace.calls()[: line.index(culprit) + 1] == line[: line.index(culprit) + 1]
    assert trace.calls()[-len(line) :] == line
