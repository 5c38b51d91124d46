"""A network that torch traces, exports or transforms, hooks that change what they are given, and one call of it."""

from typing import Any, Callable, List, Sequence

from hypothesis import strategies as st

from fixtures.draw.contract import by_contract
from fixtures.draw.script import available
from suites.modes.forms import scaled, straight

FORWARDS = ("forward_pre", "forward")
FULLS = ("full_backward_pre", "full_backward")
BACKWARDS = (*FULLS, "backward")
KINDS = (*FORWARDS, *BACKWARDS)
APIS = tuple(f"register_{kind}_hook" for kind in KINDS)
FORWARD_APIS, FULL_APIS, BACKWARD_APIS = APIS[:2], APIS[2:4], APIS[2:]
AROUND_APIS = (*FORWARD_APIS, *FULL_APIS)
#: Where a hook is: the network itself, a module of your own inside, and two layers of torch.nn.
OWN, INSIDE, LAYERS = "", "block", ["block.layer", "last"]
INNER = [INSIDE, *LAYERS]
ANYWHERE = [OWN, *INNER]
#: What a hook multiplies by: never 1.
BY = st.sampled_from([5, -2])


def kinds(*of: str) -> Any:
    """Kinds of hook that the torch which is drawn for has."""
    return by_contract(lambda contract: st.sampled_from(available(contract, of)))


def network(form: Callable[[Any], Any] = straight) -> Any:
    """A module with a forward of its own: a block around nn.Linear times 2, then nn.Linear times 3."""
    import torch

    def layer(by: int) -> Any:
        made = torch.nn.Linear(1, 1, bias=False).double()
        made.weight.data.fill_(by)
        return made

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer(2)
            self.by = 5.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x)

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.last = layer(3)
            self.by = 5.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.block(x))

    return form(Network())


def within(net: Any, path: str) -> Any:
    """The module inside of `net` at a dotted path; itself at an empty one."""
    for name in path.split(".") if path else ():
        net = getattr(net, name)
    return net


def nothing(given: Any) -> None:
    """What a hook notes of its last argument where nobody reads it."""


def hook(net: Any, path: str, kind: str, by: int = 5, note: Callable[[Any], Any] = nothing) -> Any:
    """Register a hook that multiplies what it may replace; `note` is called with that. Return its handle."""

    def on_output(module: Any, args: Any, output: Any) -> Any:
        note(output)
        return scaled(output, by)

    def on_inputs(module: Any, args: Any) -> Any:
        note(args[0])
        return (args[0] * by,)

    def on_gradients(module: Any, *given: Any) -> Any:
        note(given[0])
        return tuple(None if grad is None else grad * by for grad in given[0])

    made = {"forward": on_output, "forward_pre": on_inputs}.get(kind, on_gradients)
    return getattr(within(net, path), f"register_{kind}_hook")(made)


def counted(net: Any, path: str, seen: List[Any]) -> None:
    """A pre-hook and a forward hook that say that they run, on the module at a path."""
    within(net, path).register_forward_pre_hook(lambda module, args: seen.append("pre"))
    within(net, path).register_forward_hook(lambda module, args, output: seen.append("forward"))


def ones(*shape: int) -> Any:
    """A tensor of ones that requires a gradient."""
    import torch

    return torch.ones(*(shape or (1, 1)), dtype=torch.float64, requires_grad=True)


def called(net: Any, x: Any = None) -> List[float]:
    """One call and one backward pass: the first number of the output, and of the gradient of the input."""
    x = ones() if x is None else x
    output = net(x)
    output.sum().backward()
    return [output.flatten()[0].item(), x.grad.flatten()[0].item()]


def checkpointed(net: Any, reentrant: bool, stop: bool = True) -> Callable[[Any], Any]:
    """The network, called through checkpoint."""
    from torch.utils import checkpoint as module

    def call(x: Any) -> Any:
        if stop:
            return module.checkpoint(net, x, use_reentrant=reentrant)
        with module.set_checkpoint_early_stop(False):
            return module.checkpoint(net, x, use_reentrant=reentrant)

    return call


def runs(form: Callable[[Any], Any], path: str) -> int:
    """How often a call of such a network calls the module at a path."""
    net, seen = network(form), []
    within(net, path).register_forward_hook(lambda *given: seen.append(1))
    net(ones())
    return len(seen)


def hooked(path: str, kind: str, by: int = 5, form: Callable[[Any], Any] = straight) -> Sequence[float]:
    """What the network gives where it runs as it is, with such a hook; without hooks it is [6, 6]."""
    net = network(form)
    hook(net, path, kind, by)
    return called(net)


def taken(found: Sequence[float], eager: Sequence[float]) -> Any:
    """Whether what hooks return was used, as it is where the network runs as it is, or dropped; else the numbers."""
    assert list(eager) != [6, 6]
    return {tuple(eager): "used", (6, 6): "dropped"}.get(tuple(found), found)


def saved(module: Any) -> Any:
    """What torch.jit.load makes of what torch.jit.save wrote of a module."""
    import io

    import torch

    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)
