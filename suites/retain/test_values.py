"""Kept gradients as tensors: the shape, dtype, layout and identity of what retain_grad() leaves in .grad."""

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.forms import contiguous, shown_strides
from fixtures.plan.grammar import Plan
from suites.names import KEPT

ABOUT = "retain_grad"


@clause(
    "retain.values.own_copy",
    says="The first gradient that retain_grad() keeps is a new tensor, stored row by row (contiguous).",
    source=(KEPT, "measured"),
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


@clause(
    "retain.values.later_passes",
    says="A later backward() through an inner tensor puts the sum of its kept gradients into a new tensor as .grad.",
    source="measured",
)
@given(plan=plans(kinds=("tensor",), inputs=(1, 2), depth=0, runs=3, retain=True, values=True, recasts=("layout",)))
def test_later_passes(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
