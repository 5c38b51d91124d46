"""Many hooks of one kind in one place: three, nine, twelve."""

from hypothesis import given

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.draw.plans import plans
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of, walk
from suites.names import FORWARD, PREPEND
from suites.shapes import in_line, plans_with

KINDS = (*FORWARD, "full_backward", "full_backward_pre")


@clause(
    "ordering.many.in_one_place",
    says="However many hooks of a kind a module or tensor has, they run in turn, in the order of registration.",
    see="ordering.registration.prepend_forward",
    source="measured",
    asked="hundreds of callbacks on one layer is there a limit stacking same place sequence guaranteed fifo",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(plan=plans(kinds=HOOK_KINDS, outputs=(1, 2), depth=0, least=3, most=5, everywhere=True, alike=True, many=4))
def test_in_one_place(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for place in {hook.on for hook in hooks_of(plan)}:
        line = [hook.label for hook in hooks_of(plan) if hook.on == place]
        calls = [label for label in trace.calls() if label in line]
        assert calls == line * (len(calls) // len(line))


@clause(
    "ordering.many.with_options",
    says="However many hooks of a kind a module has, a new one runs before them with prepend=True, else after them.",
    where="the new one was there before the call",
    source="measured",
    asked="mixing prepend and normal callbacks lots of them final sequence stack lifo or queue",
    about=apis(KINDS, everywhere=True),
    needs=PREPEND,
)
@given(plan=plans_with("everywhere", "options", "alike", kinds=KINDS, depth=0, least=3, most=6, many=4, share=False))
def test_with_options(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for module in walk(plan.net):
        line = in_line([hook for hook in hooks_of(plan) if hook.on in ("*", module.name)])
        assert [event.what for event in trace if event.seen[0] == module.name] == [hook.label for hook in line]
