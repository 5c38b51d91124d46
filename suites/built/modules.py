"""Modules, what torch may do to them (norm, prune, parametrize, convert, load), and which hooks are called then."""

from typing import Any, Callable, Dict, List, Sequence

from fixtures.stages.make import make
from suites.hooking import in_turn, kinds_of, numbered
from suites.tensors import multiplies


def linear(device: str = "") -> Any:
    """A small linear module, on the device of the run if none is named."""
    return make.Linear(2, 2, **({"device": device} if device else {}))


def pruned(module: Any) -> None:
    """Prune nothing of the weight: a mask of ones."""
    import torch.nn.utils.prune

    torch.nn.utils.prune.identity(module, "weight")


def scaled() -> Any:
    """A module that returns twice what it is given."""
    import torch

    class Twice(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

    return Twice()


def parametrized(module: Any, by: Any = None) -> None:
    """Give the weight a parametrization, one that returns what it is given by default."""
    import torch
    import torch.nn.utils.parametrize

    torch.nn.utils.parametrize.register_parametrization(module, "weight", by or torch.nn.Identity())


def normed_by_parametrization(module: Any) -> None:
    """Normalize the weight in the newer way."""
    import torch.nn.utils.parametrizations

    torch.nn.utils.parametrizations.weight_norm(module)


def normed(name: str) -> Callable[[Any], Any]:
    """What normalizes the weight of a module in the older way."""

    def change(module: Any) -> None:
        import torch

        getattr(torch.nn.utils, name)(module)

    return change


def loaded(**options: Any) -> Callable[[Any], Any]:
    """What loads the state dict of another such module."""
    return lambda module: module.load_state_dict(linear().state_dict(), **options)


#: A name -> what changes a module in place.
WAYS: Dict[str, Callable[[Any], Any]] = {
    "weight_norm": normed("weight_norm"),
    "spectral_norm": normed("spectral_norm"),
    "prune": pruned,
    "parametrize": parametrized,
    "parametrize_scaled": lambda module: parametrized(module, scaled()),
    "parametrizations.weight_norm": normed_by_parametrization,
    "double": lambda module: module.double(),
    "half": lambda module: module.half().float(),
    "cpu": lambda module: module.to(make.device),
    "share_memory": lambda module: module.share_memory(),
    "to_empty": lambda module: module.to_empty(device=make.device),
    "load": loaded(),
    "assign": loaded(assign=True),
}


def called(module: Any) -> Any:
    """The sum of what the module makes of ones, of the dtype of its parameters."""

    dtype = next(module.parameters()).dtype
    return module(make.ones(1, 2, dtype=dtype, requires_grad=True)).sum()


def weight_hooks_live(ways: Sequence[str], hooks: int, passes: int, device: str = "") -> bool:
    """Whether tensor hooks that the weight had before these changes are called in each pass after them, or in none."""
    seen: List[int] = []
    module = linear(device)
    for number in range(hooks):
        module.weight.register_hook(multiplies(1, lambda grad, number=number: seen.append(number)))
    for way in ways:
        WAYS[way](module)
    for _ in range(passes):
        called(module).backward()
    assert seen in ([], list(range(hooks)) * passes)
    return bool(seen)


def module_hooks_live(way: str, pres: Sequence[bool], calls: int) -> bool:
    """Whether forward hooks and pre-hooks that a module had before a change run in each call after it, or in none."""
    seen: List[int] = []
    module, kinds = linear(), kinds_of(pres)
    numbered(module, kinds, seen)
    WAYS[way](module)
    for _ in range(calls):
        called(module)
    assert seen in ([], in_turn(kinds) * calls)
    return bool(seen)


def calls_of_late_weight_hook(way: str, later: int) -> int:
    """How often a tensor hook that a weight gets after one call is called, in the passes of that and of later ones."""
    seen: List[int] = []
    module = linear()
    WAYS[way](module)
    first = called(module)
    module.weight.register_hook(lambda grad: seen.append(1))
    first.backward()
    for _ in range(later):
        called(module).backward()
    return len(seen)
