"""Hooks under autograd.grad and backward(inputs=…), which ask for the gradients of some tensors only."""

from typing import Any

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"


@clause(
    "gradient.asked.inputs",
    says="autograd.grad calls the hooks of its inputs, and returns what they leave.",
    source=(
        "release 2.0: Tensor hooks now fire for the inputs of autograd.grad",
        SINCE_2_0,
        "https://github.com/pytorch/pytorch/issues/35802",
    ),
    readings=(
        Reading(
            "called", ">=2.0", "Leaf and inner tensor: 2 arrives, 20 is returned.", value=[([2.0], 20.0), ([2.0], 20.0)]
        ),
        Reading("not called", "<2.0", "The gradient is captured before the hooks.", value=[([], 2.0), ([], 2.0)]),
    ),
    covers=("tensor.inputs.grad_leaf", "tensor.inputs.grad_leaf_replaced", "tensor.inputs.grad_nonleaf"),
)
def test_inputs(subject: Subject) -> None:
    import torch

    results = []
    for leaf in (True, False):
        seen = []
        x = torch.ones((), requires_grad=True)
        wanted = x if leaf else 3 * x
        wanted.register_hook(lambda grad, seen=seen: seen.append(grad.item()) or grad * 10)
        (grad,) = torch.autograd.grad(2 * wanted, [wanted])
        results.append((seen, grad.item()))
    assert results == subject.value


@clause(
    "gradient.asked.on_the_way",
    says="autograd.grad uses what the hooks of tensors between root and inputs return.",
    source="docs: torch.Tensor.register_hook",
    readings=(
        Reading("used", "", "2 * 10 * 3 = 60, and no .grad is left behind.", value=(60.0, None)),
        Reading("not used", "never", "Hooks are for backward() alone.", value=(6.0, None)),
    ),
    covers=("tensor.inputs.grad_intermediate", "tensor.inputs.grad_no_accumulate"),
)
def test_on_the_way(subject: Subject) -> None:
    import torch

    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.register_hook(lambda grad: grad * 10)
    (grad,) = torch.autograd.grad(2 * y, [x])
    assert (grad.item(), x.grad) == subject.value


@clause(
    "gradient.asked.other_leaf",
    says="autograd.grad does not call the hook of a leaf that is not among its inputs.",
    source="docs: torch.autograd.grad",
    readings=(
        Reading("the input's only", ">=2.0", "x is asked for: its hook runs, that of w does not.", value=["x"]),
        Reading("neither", "<2.0", "Not even the hook of the input runs.", value=[]),
        Reading("every leaf", "never", "Every leaf of the graph is reached.", value=["w", "x"]),
    ),
    covers=("tensor.inputs.grad_other_leaf",),
)
def test_other_leaf(subject: Subject) -> None:
    import torch

    calls = []
    x, w = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: calls.append("x"))
    w.register_hook(lambda grad: calls.append("w"))
    torch.autograd.grad(x * w, [x])
    assert sorted(calls) == subject.value


@clause(
    "gradient.asked.errors_surface",
    says="An exception in the hook of an input of autograd.grad reaches the caller.",
    source=SINCE_2_0,
    readings=(
        Reading("raised", ">=2.0", "The hook is called, and its KeyError arrives.", value="KeyError"),
        Reading("never called", "<2.0", "The hook does not run: autograd.grad returns 2.", value=2.0),
    ),
    covers=("tensor.inputs.grad_exception", "tensor.inputs.grad_wrong_return"),
)
def test_errors_surface(subject: Subject) -> None:
    import torch

    def hook(grad: Any) -> None:
        raise KeyError("a hook may raise")

    x = torch.ones((), requires_grad=True)
    x.register_hook(hook)
    try:
        seen: Any = torch.autograd.grad(2 * x, [x])[0].item()
    except (KeyError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == subject.value


@clause(
    "gradient.asked.same_input_twice",
    says="An input that is asked for twice has its hooks called once, and both results are what they left.",
    source=SINCE_2_0,
    readings=(
        Reading("once for both", ">=2.0", "One call; 20 twice.", value=(1, [20.0, 20.0])),
        Reading("not called", "<2.0", "The gradient is captured before the hooks.", value=(0, [2.0, 2.0])),
    ),
    covers=("tensor.inputs.grad_dup", "tensor.inputs.grad_dup_nonleaf"),
)
def test_same_input_twice(subject: Subject) -> None:
    import torch

    calls = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: calls.append(1) or grad * 10)
    grads = torch.autograd.grad(2 * x, [x, x])
    assert (len(calls), [grad.item() for grad in grads]) == subject.value


@clause(
    "gradient.asked.backward_inputs",
    says="backward(inputs=[x]) accumulates what the hook of x returns, and leaves other leaves alone.",
    source="docs: torch.Tensor.backward",
    readings=(
        Reading(
            "replaced, and only x",
            "",
            "x.grad is 20; w has no gradient and its hook is not called.",
            value=(20.0, None, ["x"]),
        ),
        Reading("unreplaced", "never", "The gradient is captured before the hook.", value=(2.0, None, [])),
    ),
    needs=("torch.Tensor.backward(inputs)",),
    covers=("tensor.inputs.backward_leaf", "tensor.inputs.backward_offpath"),
)
def test_backward_inputs(subject: Subject) -> None:
    import torch

    calls = []
    x, w = torch.ones((), requires_grad=True), torch.tensor(2.0, requires_grad=True)
    x.register_hook(lambda grad: calls.append("x") or grad * 10)
    w.register_hook(lambda grad: calls.append("w"))
    (x * w).backward(inputs=[x])
    assert (x.grad.item(), w.grad, calls) == subject.value
