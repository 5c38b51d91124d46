"""Gradients of gradients through a hooked module: create_graph, second passes, and passes that miss the output."""

from typing import Any, List, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
CLEARING = "https://github.com/pytorch/pytorch/pull/82788"
MISSED = "https://github.com/pytorch/pytorch/issues/88312"
RULE = "The docs promise a call whenever gradients for the module's inputs are computed; here they are."


def counted(module: Any, times: int = 1) -> Tuple[Any, List[Any]]:
    """The module with a full hook, and the (grad_input, grad_output) lists that the hook was given."""
    calls: List[Any] = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        calls.append(
            tuple([None if grad is None else grad.tolist() for grad in grads] for grads in (grad_input, grad_output))
        )
        return None if times == 1 else tuple(grad * times for grad in grad_input)

    module.register_full_backward_hook(hook)
    return module, calls


def cube() -> Any:
    """A module x -> x ** 3."""
    import torch

    class Cube(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x**3

    return Cube()


def line() -> Any:
    """A module x -> 2 * x that keeps its product, from before the output was wrapped, as `inner`."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, x: Any) -> Any:
            self.inner = self.weight * x
            return self.inner

    return Line()


@clause(
    "backward.twice.create_graph",
    says="With create_graph grad mode is on in a full hook and its gradients need one; otherwise neither.",
    source="docs: torch.autograd.backward",
    needs=FULL,
    readings=(
        Reading("follows create_graph", "", "On and off.", value=[(True, True), (False, False)]),
        Reading("always off", "never", "A hook runs without grad mode.", value=[(False, False)] * 2),
    ),
    covers=("module_backward.fire.full.create_graph_args",),
)
def test_create_graph(subject: Subject) -> None:
    import torch

    module, seen = cube(), []
    module.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((torch.is_grad_enabled(), grad_input[0].requires_grad))
    )
    x = torch.tensor(2.0, requires_grad=True)
    for create in (True, False):
        torch.autograd.grad(module(x), x, create_graph=create)
    assert seen == subject.value


@clause(
    "backward.twice.second_pass",
    says="Differentiating the gradient again is right, and does not call the full hook a second time.",
    source=(DOCS, MISSED),
    docs="contradicts",
    note=RULE,
    needs=FULL,
    readings=(
        Reading("silent", ">=1.13", "One call, in the first pass.", value=([1, 12.0], [1, 2.0], [1, [[12.0]]])),
        Reading("called again", "<1.13", "The second pass calls it too.", value=([2, 12.0], [2, 2.0], [2, [[12.0]]])),
    ),
    covers=(
        "module_backward.fire.full.double_backward",
        "module_backward.issue.88312_hessian_loss",
        "module_backward.tf.hessian",
    ),
)
def test_second_pass(subject: Subject) -> None:
    import torch

    cubed, calls = counted(cube())
    x = torch.tensor(2.0, requires_grad=True)
    torch.autograd.grad(cubed(x), x, create_graph=True)[0].backward()
    loss, losses = counted(torch.nn.MSELoss())
    y = torch.tensor(2.0, requires_grad=True)
    torch.autograd.grad(loss(y, torch.tensor(0.0)), y, create_graph=True)[0].backward()
    summed, sums = counted(cube())
    hessian = torch.autograd.functional.hessian(lambda given: summed(given).sum(), torch.tensor([2.0]))
    assert ([len(calls), x.grad.item()], [len(losses), y.grad.item()], [len(sums), hessian.tolist()]) == subject.value


@clause(
    "backward.twice.second_pass_of_many",
    says="In the second pass a full hook runs only where its output gets a second-order gradient.",
    source=(CLEARING, MISSED),
    needs=FULL,
    readings=(
        Reading("below the curve", ">=1.13", "Linear 0 under the Tanh, and not the Tanh.", value=([2, 1, 0], [0])),
        Reading("the curve too", "<1.13", "The Tanh is called as well.", value=([2, 1, 0], [1, 0])),
    ),
    covers=("module_backward.fire.full.double_backward_linear",),
)
def test_second_pass_of_many(subject: Subject) -> None:
    import torch

    net, calls = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Tanh(), torch.nn.Linear(1, 1)), []
    for index, module in enumerate(net):
        module.register_full_backward_hook(lambda *arguments, index=index: calls.append(index))
    x = torch.ones(1, requires_grad=True)
    (grad,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    first = calls[:]
    grad.sum().backward()
    assert (first, calls[len(first) :]) == subject.value


@clause(
    "backward.twice.replacement",
    says="A replacement made under create_graph counts once in the second derivative.",
    source=CLEARING,
    needs=FULL,
    readings=(
        Reading("once", ">=1.13", "10 times 3 x**2, then 10 times 6 x.", value=(120.0, 120.0)),
        Reading("twice", "<1.13", "The hook runs again in the second pass: 100 times 6 x.", value=(120.0, 1200.0)),
    ),
    covers=("module_backward.eff.full.create_graph_replacement",),
)
def test_replacement(subject: Subject) -> None:
    import torch

    module, _ = counted(cube(), 10)
    x = torch.tensor(2.0, requires_grad=True)
    (grad,) = torch.autograd.grad(module(x), x, create_graph=True)
    grad.backward()
    assert (grad.item(), x.grad.item()) == subject.value


@clause(
    "backward.twice.output_missed",
    says="A full hook does not run when the gradient reaches the input without passing the output.",
    source=(DOCS, "https://github.com/pytorch/pytorch/issues/57157", "https://github.com/pytorch/pytorch/pull/88357"),
    docs="contradicts",
    note=RULE + " The output was passed inside a list, or its tensor was taken before the wrapping.",
    needs=FULL,
    readings=(
        Reading("silent", ">=1.13", "No call; the gradient is right.", value=[(0, 2.0), (0, 3.0)]),
        Reading("refused", "<1.13", "backward() raises RuntimeError.", value=["RuntimeError"] * 2),
    ),
    covers=("module_backward.issue.57157_inner_activation", "module_backward.arg.full.nested_only_path"),
)
def test_output_missed(subject: Subject) -> None:
    import torch

    class Nested(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x, [3 * x]

    def taken() -> Tuple[Any, List[Any], Any]:
        module, calls = counted(line())
        x = torch.tensor(1.0, requires_grad=True)
        module(x)
        return module.inner, calls, x

    def nested() -> Tuple[Any, List[Any], Any]:
        module, calls = counted(Nested())
        x = torch.tensor(1.0, requires_grad=True)
        return module(x)[1][0], calls, x

    seen: List[Any] = []
    for root, calls, x in (taken(), nested()):
        try:
            root.backward()
            seen.append((len(calls), x.grad.item()))
        except RuntimeError as error:
            seen.append(type(error).__name__)
    assert seen == subject.value


@clause(
    "backward.twice.stale",
    says="After a pass that stopped at the weight, a later pass calls the full hook with the old grad_output.",
    source=DOCS,
    docs="contradicts",
    note="The docs say that grad_output holds the gradients with respect to the outputs. Those of the first pass are "
    "kept until the hook runs, which that pass never does; the second pass does not reach the output at all.",
    needs=FULL,
    readings=(
        Reading("old", "", "5 is the gradient of the first pass.", value=[[([35.0], [5.0])], 35.0, [([14.0], [5.0])]]),
        Reading("silent", "never", "The second pass misses the output.", value=[[], 35.0, []]),
    ),
    covers=("module_backward.tf.double_backward_weight_only_stale", "module_backward.err.full.stale_after_error"),
)
def test_stale(subject: Subject) -> None:
    import torch

    module, calls = counted(line())
    x = torch.tensor(1.0, requires_grad=True)
    (grad,) = torch.autograd.grad(5 * module(x), module.weight, create_graph=True)
    (7 * grad).backward()
    other, others = counted(line())
    y = torch.tensor(1.0, requires_grad=True)
    torch.autograd.grad(5 * other(y), other.weight, retain_graph=True)
    other.inner.backward(torch.tensor(7.0))
    assert [calls, x.grad.item(), others] == subject.value


@clause(
    "backward.twice.stale_replacement",
    says="After a pass that stopped at the weight, a full hook that scales corrupts a later gradient of x.",
    source="measured",
    note="The 35 of the second pass did not come through the module's output, and the hook makes 3500 of it. By the "
    "docs' first rule a call is due; without the first pass torch makes none, as where the output is missed.",
    needs=FULL,
    readings=(
        Reading("corrupted", "", "A hundred times what it is.", value=3500.0),
        Reading("untouched", "never", "The hook does not run.", value=35.0),
    ),
    covers=("module_backward.tf.double_backward_weight_only_replace",),
)
def test_stale_replacement(subject: Subject) -> None:
    import torch

    module, _ = counted(line(), 100)
    x = torch.tensor(1.0, requires_grad=True)
    (grad,) = torch.autograd.grad(5 * module(x), module.weight, create_graph=True)
    (7 * grad).backward()
    assert x.grad.item() == subject.value
