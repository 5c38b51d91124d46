"""Kept gradients as tensors: the shape, dtype, layout and identity of what retain_grad() leaves in .grad."""

from itertools import accumulate
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS, plans
from fixtures.draw.shapes import LAYOUTS, SHAPES
from fixtures.judge.subject import Subject
from fixtures.model.contract import FLOATS
from fixtures.plan.forms import contiguous, shown_strides
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Retain
from suites.names import KEPT

ABOUT = "retain_grad"


@clause(
    "retain.values.own_copy",
    says="The first gradient that retain_grad() keeps is a new, contiguous tensor.",
    source=(KEPT, "measured"),
    asked="stride memory layout of stored activation gradient transposed expanded channels_last view call safe clone",
    level="observed",
)
@given(
    plan=plans(
        kinds=("tensor",), on=("output",), inputs=(1, 2), outputs=(1, 2), retain=True, values=True, recasts=("layout",)
    )
)
def test_own_copy(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    kept = [grad for name, grad in trace.grads()[0].items() if ">" in name and grad is not None]
    # What a module returned may be a leaf, whose .grad was shown before and has got a number.
    assert all(grad.name[:1] in ("", "t") for grad in kept)
    rows = [shown_strides(grad.shape, contiguous(grad.shape)) for grad in kept if not grad.name]
    assert rows == [grad.strides for grad in kept if not grad.name]


def added(one: Any, two: Any) -> Any:
    """The sum of the numbers of two tensors of one shape."""
    return list(map(added, one, two)) if isinstance(one, list) else one + two


@clause(
    "retain.values.later_passes",
    says="A later backward() through a non-leaf tensor puts the sum of its kept gradients into a new tensor as .grad.",
    source="measured",
    asked="reference to activation.grad stale after second backprop not updated out of place accumulate",
)
@given(
    plan=st.builds(
        lambda form, grads: Plan(
            Leaf("m0", "scale", (Of(2, (), form.dtype),)),
            (Input(form),),
            (Forward(), Retain("m0>0"), Hook("tensor", "m0>0", "h0"), *(Backward((grad,)) for grad in grads)),
        ),
        st.builds(Of, st.just(1), st.sampled_from(SHAPES), st.sampled_from(FLOATS), st.sampled_from(LAYOUTS)),
        st.lists(st.builds(Like, NUMBERS, layout=st.sampled_from(LAYOUTS)), min_size=2, max_size=4),
    )
)
def test_later_passes(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    sums = accumulate([grad.numbers for (grad,) in trace.seen_by("h0")], added)
    # What has no name was never seen before.
    assert [(kept.numbers, kept.name) for kept in (grads["m0>0"] for grads in trace.grads())] == [
        (total, "") for total in sums
    ]
