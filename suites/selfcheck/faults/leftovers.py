"""Faults of what a handle, a copy or a pickled module keeps, and of how long a removal takes to be seen."""

import copy
from collections import OrderedDict
from contextlib import ExitStack
from typing import Any

from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import Call, Entries, fault, swap
from suites.selfcheck.faults.lifecycle import OPTIONS, patch_remove

ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"


@fault("handles", needs=ALWAYS_CALL, subtle=True)
def removal_leaves_always_call(stack: ExitStack) -> None:
    """Removing a forward hook leaves its always_call behind in the module."""

    def remove(original: Any, handle: Any) -> None:
        kept = [(one(), dict(one() or {})) for one in handle.extra_dict_ref[1:]]
        original(handle)
        for flags, before in kept:
            if flags is not None:
                flags.update(before)

    patch_remove(stack, remove)


@fault("handles", subtle=True)
def handle_owns_hooks(stack: ExitStack) -> None:
    """A handle has a strong reference to the dict of hooks, so that hooks outlive their module."""
    original = RemovableHandle.__init__

    def init(self: Any, hooks_dict: Any, *given: Any, **extra: Any) -> None:
        original(self, hooks_dict, *given, **extra)
        self.owned = hooks_dict

    swap(stack, RemovableHandle, "__init__", init)


@fault("handles", subtle=True)
def handle_copy_is_the_handle(stack: ExitStack) -> None:
    """A handle that is deep-copied is the same handle, so that it still removes from the original."""
    RemovableHandle.__deepcopy__ = lambda self, memo: self  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(RemovableHandle, "__deepcopy__"))


@fault("handles", needs=OPTIONS, subtle=True)
def old_state_not_completed(stack: ExitStack) -> None:
    """Loading the state of an older module does not make up for the dicts of options that it lacks."""
    swap(stack, Module, "__setstate__", lambda self, state: self.__dict__.update(state))


@fault("handles", needs=ALWAYS_CALL, subtle=True)
def copy_forgets_always_call(stack: ExitStack) -> None:
    """The forward hooks of a deep copy have lost always_call."""

    def deepcopy(self: Any, memo: Any) -> Any:
        made = self.__class__.__new__(self.__class__)
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__dict__, memo))
        made._forward_hooks_always_called = OrderedDict()
        return made

    Module.__deepcopy__ = deepcopy  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(Module, "__deepcopy__"))


@fault("ordering.changes", "handles", subtle=True)
class GlobalTakenOutermost(Call):
    """The global forward hooks of all calls are those there were when the outermost of them began."""

    depth, taken = 0, []

    def run(self) -> Any:
        cls = type(self)
        if not cls.depth:
            cls.taken = list(self.everywhere("_forward_hooks").items())
        cls.depth += 1
        try:
            return super().run()
        finally:
            cls.depth -= 1

    def entries(self, store: str) -> Entries:
        if store == "_forward_hooks":
            return [*self.taken, *self.own(store).items()]
        return super().entries(store)
