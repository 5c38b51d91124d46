"""Where a pass begins and how it is asked for: leaves as roots, roots without gradient, batches, filled-in zeros."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS
from fixtures.plan import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.subject import Subject

GRAD = "docs: torch.autograd.grad"


@clause(
    "gradient.roots.leaf",
    says="A leaf may be the root itself: its hooks are given what backward() was given, and fill .grad.",
    source="docs: torch.Tensor.register_hook",
    covers=("tensor.root.leaf", "graph.api.leaf_as_root"),
)
@given(
    plan=st.builds(
        lambda by, value, grads: Plan(
            Leaf("m0", "same"),
            (Input(value),),
            (Hook("tensor", "x0", "h0", (Scale(by),)), Forward(), *(Backward((grad,)) for grad in grads)),
        ),
        FACTORS,
        NUMBERS,
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    starts = [step.grads for step in plan.steps if isinstance(step, Backward)]
    assert trace.seen_by("h0") == starts
    assert trace.grads()[-1]["x0"] == sum(grad for (grad,) in starts) * plan.steps[0].do[0].by


@clause(
    "gradient.roots.no_gradient",
    says="backward() of a tensor with several elements needs a gradient: RuntimeError, and no hook is called.",
    source="docs: torch.Tensor.backward",
    readings=(
        Reading("raises", "", "Only a tensor with one element has a gradient by itself.", value=("RuntimeError", 0)),
        Reading("ones", "never", "A gradient of ones is made.", value=("accepted", 1)),
    ),
    covers=("graph.api.root_no_grad_output_none",),
)
def test_no_gradient(subject: Subject) -> None:
    import torch

    calls: List[Any] = []
    y = 2 * torch.ones(2, requires_grad=True)
    y.register_hook(calls.append)
    try:
        y.backward()
        result = "accepted"
    except RuntimeError as error:
        result = type(error).__name__
    assert (result, len(calls)) == subject.value


@clause(
    "gradient.roots.batch",
    says="With is_grads_batched a hook is called once, with the shape of one gradient; what it returns counts.",
    source=(GRAD, "https://github.com/pytorch/pytorch/pull/85849"),
    needs="torch.autograd.grad(is_grads_batched)",
    readings=(
        Reading(
            "also at the input",
            ">=2.0",
            "x and y see (2,); the factor of y is in both rows.",
            value=([("y", (2,)), ("x", (2,))], [[20.0, 0.0], [0.0, 20.0]]),
        ),
        Reading(
            "not at the input",
            ">=1.12,<2.0",
            "autograd.grad did not call the hooks of its inputs.",
            value=([("y", (2,))], [[20.0, 0.0], [0.0, 20.0]]),
        ),
        Reading("out of order", "<1.12", "1.11 has the parameter, and raises.", value="RuntimeError"),
    ),
    covers=("tensor.inputs.grad_batched", "graph.api.is_grads_batched", "graph.api.is_grads_batched_hook_returns"),
)
def test_batch(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    x = torch.ones(2, requires_grad=True)
    y = 2 * x
    x.register_hook(lambda grad: seen.append(("x", tuple(grad.shape))))
    y.register_hook(lambda grad: seen.append(("y", tuple(grad.shape))) or grad * 10)
    try:
        (grads,) = torch.autograd.grad([1 * y], [x], [torch.eye(2)], is_grads_batched=True)
        result: Any = (seen, grads.tolist())
    except RuntimeError as error:
        result = type(error).__name__
    assert result == subject.value


@clause(
    "gradient.roots.zeros_for_the_unused",
    says="The zeros that materialize_grads=True returns for an unused tensor go through none of its hooks.",
    source=GRAD,
    needs="torch.autograd.grad(materialize_grads)",
    readings=(
        Reading("no hook", "", "The hook is not called, zero is returned.", value=(0, [2.0, 0.0])),
        Reading("hooked", "never", "The hook is given the zeros.", value=(1, [2.0, 7.0])),
    ),
    covers=("graph.api.grad_materialize_grads",),
)
def test_zeros_for_the_unused(subject: Subject) -> None:
    import torch

    calls: List[int] = []
    x, unused = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    unused.register_hook(lambda grad: calls.append(1) or grad + 7)
    grads = torch.autograd.grad(2 * x, [x, unused], materialize_grads=True)
    assert (len(calls), [grad.item() for grad in grads]) == subject.value


@clause(
    "gradient.roots.inside_post_accumulate",
    says="A post-accumulate hook may run a backward of its own.",
    source="measured",
    needs="torch.Tensor.register_post_accumulate_grad_hook",
    readings=(
        Reading("allowed", "", "The other leaf has its gradient, and the outer pass ends well.", value=(2.0, 3.0)),
        Reading("no effect", "never", "The inner pass is left out.", value=(2.0, 0.0)),
    ),
    covers=("graph.reent.backward_in_postacc",),
)
def test_inside_post_accumulate(subject: Subject) -> None:
    import torch

    x, other = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)

    def hook(leaf: Any) -> None:
        with torch.enable_grad():
            (3 * other).backward()

    x.register_post_accumulate_grad_hook(hook)
    (2 * x).backward()
    assert (x.grad.item(), other.grad.item()) == subject.value
