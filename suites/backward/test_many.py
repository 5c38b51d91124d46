"""Modules with many inputs and outputs: what their backward hooks are given, and in how many passes."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, hooks_of
from suites.backward.plans import EVERY_KIND, MAYBE_SCALE
from suites.backward.sources import GRADIENTS
from suites.hooking import SOME
from suites.names import FULL


@clause(
    "backward.many.entries",
    says="A full backward hook is given an entry for each of twelve positional inputs and twelve outputs.",
    where="the outputs are tensors in a tuple",
    see=("backward.given.kwargs_left_out", "backward.structures.other_outputs"),
    source=GRADIENTS,
    asked="stress test module with lots of arguments and results grad tuples length scale beyond a few",
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
    where=("positional inputs require grad", "outputs are made of them and in the loss"),
    see="backward.structures.other_outputs",
    source="measured",
    asked="dozen hooks registered on one layer all fire every training step none lost repeated iterations",
    about=("register_backward_hook", "register_full_backward_hook", "register_full_backward_pre_hook"),
)
@given(
    plan=st.builds(
        lambda kind, hooks, ins, outs, grad, passes: Plan(
            Leaf("m0", "many", (2,), outputs=outs),
            (Input(3),) * ins,
            (
                *(Hook(kind, "m0", f"h{place}", do) for place, do in enumerate(hooks)),
                Forward(),
                *(Backward((grad,) * outs),) * passes,
            ),
        ),
        EVERY_KIND,
        st.sampled_from([1, 2, 12]).flatmap(lambda count: st.lists(MAYBE_SCALE, min_size=count, max_size=count)),
        SOME,
        SOME,
        NUMBERS,
        st.sampled_from([1, 2, 12]),
    )
)
def test_everywhere(subject: Subject, plan: Plan) -> None:
    labels, passes = [hook.label for hook in hooks_of(plan)], plan.steps.count(plan.steps[-1])
    assert subject.holds(plan).calls() == labels * passes
