"""A module to compile, hooks of each kind that change what they are given, and one call of it as plain data."""

from typing import Any, Callable, List, Sequence

from hypothesis import strategies as st

from suites.modes.forms import scaled, straight
from suites.modes.networks import within

KINDS = ("forward_pre", "forward", "full_backward_pre", "full_backward", "backward")
APIS = tuple(f"register_{kind}_hook" for kind in KINDS)
EVERYWHERE = tuple(f"register_module_{kind}_hook" for kind in KINDS)
ANY_KIND = st.sampled_from(KINDS)
#: Where a hook is: modules in `network`, the first being the one that is compiled.
INNER = st.sampled_from(["first", "second", "second.inner"])
ANYWHERE = st.sampled_from(["", "first", "second", "second.inner"])
NUMBERS = st.integers(2, 4)


def scale(by: int) -> Any:
    """A module that multiplies its input by a parameter."""
    import torch

    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(float(by), dtype=torch.float64))

        def forward(self, x: Any) -> Any:
            return x * self.weight

    return Scale()


def network(form: Callable[[Any], Any] = straight, first: Any = None) -> Any:
    """A module with a forward of its own: first times 2, or a module that is given, then times 3 two levels inside."""
    import torch

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = scale(3)

        def forward(self, x: Any) -> Any:
            return self.inner(x)

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = scale(2) if first is None else first
            self.second = Block()

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    return form(Network())


def two_outputs() -> Any:
    """A module with two parameters, one for each of its outputs."""
    import torch

    class TwoOutputs(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = (torch.nn.Parameter(torch.tensor(by, dtype=torch.float64)) for by in (2.0, 3.0))

        def forward(self, x: Any) -> Any:
            return self.a * x, self.b * x

    return TwoOutputs()


def multiplying(kind: str, by: int) -> Callable[..., Any]:
    """A hook of a kind that returns what it is given to replace, multiplied."""

    def on_output(module: Any, args: Any, output: Any) -> Any:
        return scaled(output, by)

    def on_inputs(module: Any, args: Any) -> Any:
        return (args[0] * by,)

    def on_gradients(module: Any, *given: Any) -> Any:
        return tuple(None if grad is None else grad * by for grad in given[0])

    return {"forward": on_output, "forward_pre": on_inputs}.get(kind, on_gradients)


def hook(net: Any, path: str, kind: str, by: int) -> Any:
    """Register such a hook on a module inside of `net`; return its handle."""
    return getattr(within(net, path), f"register_{kind}_hook")(multiplying(kind, by))


def compiled(net: Any, **options: Any) -> Any:
    """What torch.compile makes of a module, or of a function, after everything that was compiled is forgotten."""
    import torch

    torch.compiler.reset()
    return torch.compile(net, **{"backend": "eager", **options})


def noting(seen: List[str]) -> Any:
    """A hook that keeps the name of the class of its module."""

    def note(module: Any, *given: Any) -> None:
        seen.append(type(module).__name__)

    return note


def everywhere(kind: str, function: Any) -> Any:
    """Register a hook for all modules; return its handle."""
    from torch.nn.modules import module

    return getattr(module, f"register_module_{kind}_hook")(function)


def leaf(numbers: Sequence[float]) -> Any:
    """An input that needs a gradient."""
    import torch

    return torch.tensor(list(numbers), dtype=torch.float64, requires_grad=True)


def called(call: Callable[[Any], Any], numbers: Sequence[float] = (3.0,)) -> List[Any]:
    """One call and its backward pass: the output, and the gradient of the input."""
    x = leaf(numbers)
    y = call(x)
    y.sum().backward()
    return [y.tolist(), x.grad.tolist()]


def became(found: Any, eager: Any, plain: Any) -> Any:
    """What became of a hook, by what a call gave: as in eager mode it runs, as without it it is ignored."""
    return "runs" if found == eager else "ignored" if found == plain else found
