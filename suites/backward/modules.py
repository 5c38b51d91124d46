"""Modules with backward hooks that keep what they were given, and what became of a pass through them."""

import warnings
from typing import Any, Callable, List, Tuple

from fixtures.stages.make import make
from suites.tensors import outcome


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def module_of(function: Callable[..., Any], kind: str = "full_backward", hooks: int = 1) -> Tuple[Any, List[Any]]:
    """A hooked module that computes `function`, and what its hook was given: grad_input (if any) and grad_output."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(make.tensor(2.0))
            self.child = torch.nn.Identity()

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    module: Any = Module()
    calls: List[Any] = []

    def hook(owner: Any, *grads: Any) -> None:
        assert owner is module
        calls.append([show(one) for one in grads])

    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(hook)
    return module, calls


def run(function: Callable[..., Any], take: Callable[[Any], Any], kind: str = "full_backward", hooks: int = 1) -> Any:
    """Type of the output, calls, x.grad and warnings when the loss is what `take` takes; or what raised."""

    module, calls = module_of(function, kind, hooks)
    x = make.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = module(x)
            take(out).sum().backward()
        except (RuntimeError, TypeError) as error:
            return type(error).__name__
    assert x.grad is not None
    return type(out).__name__, calls, x.grad.tolist(), [one.category.__name__ for one in caught]


def line(calls: List[Any], kind: str = "full_backward", weight: int = 2, hooks: int = 1) -> Any:
    """The hooked module x -> weight * x; its hooks put what they are given into `calls`."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(make.tensor(float(weight)))

        def forward(self, x: Any) -> Any:
            return self.weight * x

    module = Line()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module


def outcome_of(kind: str, returned: Any, size: Any, count: int = 1, grad: bool = True, hooks: int = 1) -> Any:
    """How backward() ends when the last hook of a doubling module returns this; and its inputs and weight."""
    import torch

    class Double(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(make.full(size, 2.0))

        def forward(self, *xs: Any) -> Any:
            return self.weight * sum(xs)

    module, xs = Double(), [make.ones(size, requires_grad=grad) for _ in range(count)]
    for number in range(hooks):
        value = returned if number == hooks - 1 else None
        getattr(module, f"register_{kind}_hook")(lambda *given, value=value: value)
    out = module(*xs)
    return outcome(lambda: out.backward(make.ones(size))), xs, module.weight
