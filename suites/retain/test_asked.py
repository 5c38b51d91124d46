"""When kept gradients appear: seen from hooks, under autograd.grad, backward(inputs=…) and create_graph."""

from typing import Any

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"


@clause(
    "retain.asked.seen_upstream",
    says="When the hook of a tensor further upstream runs, the kept gradient is already there.",
    source="note: notes/autograd.html#backward-hooks-execution",
    readings=(
        Reading("there", "", "The hook of x finds y.grad = 2.", value=[2.0]),
        Reading("at the end", "never", "It is set when the whole pass is over.", value=[None]),
    ),
    covers=("tensor.rg.seen_upstream",),
)
def test_seen_upstream(subject: Subject) -> None:
    import torch

    seen = []
    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.retain_grad()
    x.register_hook(lambda grad: seen.append(None if y.grad is None else y.grad.item()))
    (2 * y).backward()
    assert seen == subject.value


@clause(
    "retain.asked.not_in_its_own_hook",
    says="While the hooks of a tensor run, its kept gradient is not there yet.",
    source=("note: notes/autograd.html#backward-hooks-execution", SINCE_2_0),
    readings=(
        Reading("not yet", ">=2.0", "None, whichever was registered first.", value=[None, None]),
        Reading("by registration", "<2.0", "There already when retain_grad() came first.", value=[2.0, None]),
    ),
    covers=("tensor.rg.seen_in_own_hook",),
)
def test_not_in_its_own_hook(subject: Subject) -> None:
    import torch

    seen = []
    for retain_first in (True, False):
        y = 3 * torch.ones((), requires_grad=True)

        def hook(grad: Any, y: Any = y) -> None:
            seen.append(None if y.grad is None else y.grad.item())

        if retain_first:
            y.retain_grad()
        y.register_hook(hook)
        if not retain_first:
            y.retain_grad()
        (2 * y).backward()
    assert seen == subject.value


@clause(
    "retain.asked.input_of_grad",
    says="autograd.grad with respect to a tensor that keeps its gradient also sets its .grad.",
    source=SINCE_2_0,
    readings=(
        Reading("set", ">=2.0", "2 is returned and kept.", value=(2.0, 2.0)),
        Reading("not set", "<2.0", "2 is returned, y.grad is None.", value=(2.0, None)),
    ),
    covers=("tensor.inputs.grad_retain_grad",),
)
def test_input_of_grad(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    (grad,) = torch.autograd.grad(2 * y, [y])
    assert (grad.item(), None if y.grad is None else y.grad.item()) == subject.value


@clause(
    "retain.asked.on_the_way_of_grad",
    says="autograd.grad sets the .grad of a tensor on its way that keeps its gradient.",
    source="measured",
    readings=(
        Reading("set", "", "Though autograd.grad leaves x.grad alone, y.grad is 2.", value=(6.0, None, 2.0)),
        Reading("not set", "never", "autograd.grad leaves every .grad alone.", value=(6.0, None, None)),
    ),
    covers=("tensor.inputs.grad_retain_grad_intermediate",),
)
def test_on_the_way_of_grad(subject: Subject) -> None:
    import torch

    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.retain_grad()
    (grad,) = torch.autograd.grad(2 * y, [x])
    assert (grad.item(), x.grad, None if y.grad is None else y.grad.item()) == subject.value


@clause(
    "retain.asked.backward_inputs",
    says="backward(inputs=[y]) on a tensor that keeps its gradient counts the gradient once.",
    source="https://github.com/pytorch/pytorch/pull/60521",
    readings=(
        Reading("once", ">=1.10", "y.grad is 2.", value=2.0),
        Reading("refused", "<1.10", "inputs= takes leaves only: RuntimeError.", value="RuntimeError"),
    ),
    needs=("torch.Tensor.backward(inputs)",),
    covers=("tensor.inputs.backward_nonleaf_retains",),
)
def test_backward_inputs(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    try:
        (2 * y).backward(inputs=[y])
        result: Any = y.grad.item()
    except RuntimeError as error:
        result = type(error).__name__
    assert result == subject.value


@clause(
    "retain.asked.create_graph",
    says="With create_graph the kept gradient has a graph of its own; without, it has none.",
    source="docs: torch.autograd.backward",
    readings=(
        Reading("only with create_graph", "", "requires_grad of y.grad in the two cases.", value=[True, False]),
        Reading("never", "never", "The kept gradient is detached.", value=[False, False]),
    ),
    covers=("tensor.rg.create_graph",),
)
def test_create_graph(subject: Subject) -> None:
    import torch

    results = []
    for create_graph in (True, False):
        x = torch.ones((), requires_grad=True)
        y = 3 * x
        y.retain_grad()
        torch.autograd.backward([y * y], create_graph=create_graph)
        results.append(y.grad.requires_grad)
        x.grad = y.grad = None
    assert results == subject.value
