"""Faults that show only where tensors are in structures: lists, dicts, named tuples, objects, None and keywords."""

import dataclasses
from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Entries, Full, fault

FULL = ("torch.nn.Module.register_full_backward_hook",)
PRE = ("torch.nn.Module.register_full_backward_pre_hook",)
KEYWORDS = ("torch.nn.Module.register_forward_pre_hook(with_kwargs)",)


def alias(one: Any) -> Any:
    """Another tensor with the same numbers; what is no tensor as it is."""
    return one.view_as(one) if isinstance(one, torch.Tensor) else one


def is_in(one: Any, others: list[Any]) -> bool:
    return any(one is other for other in others)


@fault("input.structures", subtle=True)
class ListIsSpread(Call):
    """A list that a forward pre-hook returns is spread over the arguments, as a tuple is."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(tuple(result) if isinstance(result, list) else result)


@fault("input.structures", subtle=True)
class NamedArgumentsPlain(Call):
    """A named tuple that a forward pre-hook returns reaches the next hook as a plain tuple."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(tuple(result) if isinstance(result, tuple) else result)


@fault("input.structures", subtle=True)
class NoneHidden(Call):
    """Forward pre-hooks are not given the arguments that are None."""

    def before(self, key: int, hook: Any) -> None:
        whole, self.args = self.args, tuple(arg for arg in self.args if arg is not None)
        shown = self.args
        super().before(key, hook)
        if self.args is shown:
            self.args = whole


@fault("input.structures", needs=KEYWORDS, subtle=True)
class KeywordsSorted(Call):
    """Forward pre-hooks with with_kwargs=True are given the keywords in the order of their names."""

    def before(self, key: int, hook: Any) -> None:
        self.kwargs = dict(sorted(self.kwargs.items()))
        super().before(key, hook)


@fault("input.structures", subtle=True)
class KeywordOnlyBare(Call):
    """A module that is called with keywords alone runs no forward pre-hooks."""

    def entries(self, store: str) -> Entries:
        bare = store == "_forward_pre_hooks" and self.kwargs and not self.args
        return [] if bare else super().entries(store)


@fault("output.structures", subtle=True)
class ObjectsNotTaken(Call):
    """An object of a class of its own that a forward hook returns does not replace the output."""

    def replace_out(self, result: Any) -> None:
        super().replace_out(None if dataclasses.is_dataclass(result) else result)


@fault("output.structures", subtle=True)
class EmptiedLists(Call):
    """Forward hooks are given a list without the constants that forward returned in it."""

    def after(self, key: int, hook: Any) -> None:
        if isinstance(self.out, list):
            self.out = [one for one in self.out if not isinstance(one, float)]
        super().after(key, hook)


@fault("ordering", subtle=True)
class DictsNewestFirst(Call):
    """Where forward returned a dict, the forward hooks run newest first."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        return found[::-1] if store == "_forward_hooks" and isinstance(self.out, dict) else found


@fault("gradient.structures", subtle=True)
class ListsOfViews(Call):
    """The tensors in a list that a module with hooks returns are views of those that it made."""

    def inner(self) -> Any:
        out = super().inner()
        if isinstance(out, list):
            out[:] = map(alias, out)
        return out


@fault("retain.structures", subtle=True)
class TwiceIsTwo(Call):
    """A tensor that a hooked module returns twice in a list is two, each with a gradient of its own."""

    def inner(self) -> Any:
        out = super().inner()
        if isinstance(out, list):
            out[:] = [alias(one) if is_in(one, out[:place]) else one for place, one in enumerate(out)]
        return out


@fault("handles", subtle=True)
class ObjectEndsHook(Call):
    """A forward hook that was given an object of a class of its own is gone after the call."""

    def after(self, key: int, hook: Any) -> None:
        gone = dataclasses.is_dataclass(self.out)
        super().after(key, hook)
        if gone:
            self.own("_forward_hooks").pop(key, None)


@fault("backward.structures", needs=FULL, subtle=True)
class TwiceIsOnce(Full):
    """A module with full backward hooks that is given a tensor twice is given the same view of it at both places."""

    def setup_input_hook(self, args: Any) -> Any:
        wrapped = super().setup_input_hook(args)
        places = [next(place for place, other in enumerate(args) if other is one) for one in args]
        return tuple(wrapped[place] for place in places)


@fault("backward.structures", needs=FULL, subtle=True)
class ConstantsHandedOn(Full):
    """The grad_input of full backward hooks has constants in their place, not None."""

    def setup_input_hook(self, args: Any) -> Any:
        self.constants = [one if isinstance(one, float) else None for one in args]
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        shown = tuple(old if new is None else new for new, old in zip(given, self.constants, strict=True))
        made = super().call_hooks(shown)
        return given if made is shown else made


@fault("backward.structures", needs=PRE, subtle=True)
class PreNoneKeeps(Full):
    """None that a full backward pre-hook returns for one of several outputs leaves its gradient as it is."""

    def call_pre_hooks(self) -> None:
        before = self.grad_outputs
        super().call_pre_hooks()
        self.grad_outputs = tuple(
            old if new is None else new for new, old in zip(self.grad_outputs, before, strict=True)
        )


@fault("backward.structures", needs=FULL, subtle=True)
class NamedOutputPlain(Full):
    """A named tuple becomes a plain one behind a full backward hook."""

    def setup_output_hook(self, args: Any) -> Any:
        made = super().setup_output_hook(args)
        return tuple(made) if isinstance(made, tuple) else made


@fault("backward.structures", needs=FULL, subtle=True)
class NoneKeeps(Full):
    """None that a full backward hook returns for one of several inputs leaves its gradient as it is."""

    def checked(self, result: Any, given: Any) -> Any:
        made = super().checked(result, given)
        return tuple(old if new is None else new for new, old in zip(made, given, strict=True))


@fault("backward.structures", subtle=True)
class LegacyNotInside(Call):
    """A legacy backward hook is not on the tensors of a structure in the output."""

    def attach(self, legacy: Any) -> None:
        first = next(iter(self.out.values()), None) if isinstance(self.out, dict) else self.out
        first = first[0] if isinstance(first, (tuple, list)) and first else first
        if isinstance(first, torch.Tensor):
            super().attach(legacy)
