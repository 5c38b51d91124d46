"""Modules with many inputs and outputs: what their backward hooks are given, and in how many passes."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of
from suites.backward.sources import GRADIENTS
from suites.names import FULL


@clause(
    "backward.many.entries",
    says="A full backward hook is given an entry for each of twelve positional inputs and twelve outputs.",
    where="the outputs are tensors in a tuple",
    see=("backward.given.kwargs_left_out", "backward.structures.other_outputs"),
    source=GRADIENTS,
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), ops=("many",), inputs=(2, 12), outputs=(1, 12), depth=0))
def test_entries(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    outputs = len(trace.returns()[0]) if isinstance(trace.returns()[0], tuple) else 1
    for hook in hooks_of(plan, "full_backward"):
        for _, grad_input, grad_output in trace.seen_by(hook.label):
            assert (len(grad_input), len(grad_output)) == (len(plan.inputs), outputs)


@clause(
    "backward.many.everywhere",
    says="Twelve full backward hooks of m all run in each of twelve backward() calls.",
    where=("inputs by position need gradients", "outputs are made of them and in the loss"),
    see="backward.structures.other_outputs",
    source="measured",
    about=("register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook"),
)
@given(
    plan=plans(
        kinds=("backward", "full_backward", "full_backward_pre"),
        does=("scale",),
        inputs=(1, 3),
        outputs=(1, 3),
        runs=3,
        many=4,
    )
)
def test_everywhere(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
