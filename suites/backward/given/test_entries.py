"""Which inputs and outputs have an entry in what a full backward hook is given, and which objects they are."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Call, Forward, Hook, Input, Leaf, Of, Plan
from suites.backward.sources import INPUT_VIEW, OUTPUT_VIEW, POSITIONAL
from suites.hooking import SOME
from suites.names import FULL


@clause(
    "backward.given.one_entry_each",
    says="A full backward hook is given one entry for each positional input and one for each output.",
    where="the module returns a tensor or a tuple of tensors",
    see=("backward.structures.other_outputs", "backward.structures.places"),
    source=POSITIONAL,
    asked="how long are grad_input and grad_output tuples how many elements multi argument layer",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), ops=("many",), inputs=(1, 5), outputs=(1, 5), depth=0))
def test_one_entry_each(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for _, grad_input, grad_output in [event.seen for event in trace if event.what in trace.calls()]:
        assert len(grad_input) == len(plan.inputs)
        assert grad_output == plan.steps[-1].grads


@clause(
    "backward.given.other_objects",
    says="With a full backward hook forward is given a new tensor, not the one that was passed.",
    where="inputs are positional tensors that require grad",
    see=("backward.objects.kept_under_no_grad", "backward.objects.kept"),
    source=(INPUT_VIEW, OUTPUT_VIEW),
    asked="argument identity check fails id differs is comparison false "
    "once register_full_backward_hook is set cache lookup broken",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda shape, leaf, hooks: Plan(
            Leaf("m0", "scale", (Of(2),)),
            (Input(Of(1, shape), leaf=leaf),),
            (
                Hook("forward", "m0", "sees"),
                Forward(),
                *(Hook("full_backward", "m0", f"h{place}") for place in range(hooks)),
                Forward(),
            ),
        ),
        st.sampled_from([(), (2,), (2, 3)]),
        st.booleans(),
        SOME,
    )
)
def test_other_objects(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    own = [given_to.name == "x0" for _, (given_to,), _ in trace.seen_by("sees")]
    assert (own, [out.name == "m0>0" for out in trace.returns()]) == ([True, False], [False, True])


@clause(
    "backward.given.kwargs_left_out",
    says="grad_input of a full backward hook has no entry for keyword inputs.",
    source=POSITIONAL,
    asked="attention mask and hidden states passed by name grad_input tuple empty or shorter named arguments",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda weight, ins, named, hooks: Plan(
            Leaf("m0", "many", (weight,), Call(tuple(range(ins + len(named))), tuple("abc"[: len(named)])), outputs=1),
            (Input(3),) * ins + tuple(Input(3, grad=grad) for grad in named),
            (*(Hook("full_backward", "m0", f"h{place}") for place in range(hooks)), Forward(), Backward()),
        ),
        NUMBERS,
        SOME,
        st.lists(st.booleans(), min_size=1, max_size=3),
        SOME,
    )
)
def test_kwargs_left_out(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ins = len(plan.inputs) - len(plan.net.takes.names)
    assert {len(seen[1]) for label in trace.calls() for seen in trace.seen_by(label)} == {ins}
    # They get their gradients all the same.
    assert all(trace.grads()[0][f"x{place}"] for place, spec in enumerate(plan.inputs) if spec.grad)
