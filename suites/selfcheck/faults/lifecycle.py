"""Faults of handles and registration: removal, ids, options, context managers, copies."""

import copy
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from torch.nn import Module
from torch.nn.modules import module as torch_module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import Call, fault, reorder, swap

OPTIONS = ("torch.nn.Module.register_forward_hook(prepend)",)
FULL_OPTIONS = ("torch.nn.Module.register_full_backward_hook(prepend)",)
FORWARD_STORES = ("_forward_hooks", "_forward_pre_hooks")


def patch_remove(stack: ExitStack, remove: Callable[[Callable[[Any], None], Any], None]) -> None:
    """Let `remove(original, handle)` be what handles do."""
    original = RemovableHandle.remove
    swap(stack, RemovableHandle, "remove", functools.wraps(original)(lambda handle: remove(original, handle)))


def keys_of(handle: Any) -> list[int]:
    hooks = handle.hooks_dict_ref()
    return [] if hooks is None else list(hooks)


@fault(control=True)
def wrapped_handles(stack: ExitStack) -> None:
    """Nothing is wrong: hooks are registered on modules and removed by other functions."""
    patch_remove(stack, lambda original, handle: original(handle))
    for name in ("register_forward_pre_hook", "register_forward_hook", "register_full_backward_hook"):
        patch_register(stack, name, lambda self, handle, options: None)


# --- removal -----------------------------------------------------------------------------------


@fault("handles", "ordering")
def removal_ignored(stack: ExitStack) -> None:
    """Removing a handle has no effect."""
    patch_remove(stack, lambda original, handle: None)


@fault("handles", "ordering", subtle=True)
def removes_newest(stack: ExitStack) -> None:
    """A handle removes the newest hook of its dict, whichever it belongs to."""

    def remove(original: Any, handle: Any) -> None:
        keys = keys_of(handle)
        if handle.id in keys:
            del handle.hooks_dict_ref()[keys[-1]]

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def removes_later_ones(stack: ExitStack) -> None:
    """Removing a hook removes those registered after it too."""

    def remove(original: Any, handle: Any) -> None:
        keys = keys_of(handle)
        if handle.id in keys:
            for key in keys[keys.index(handle.id) + 1 :]:
                del handle.hooks_dict_ref()[key]
        original(handle)

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def removal_moves_last(stack: ExitStack) -> None:
    """Removing a hook from the middle puts the last one in its place."""

    def remove(original: Any, handle: Any) -> None:
        keys = keys_of(handle)
        original(handle)
        if handle.id in keys[:-2]:
            place = keys.index(handle.id)
            reorder(handle.hooks_dict_ref(), [*keys[:place], keys[-1], *keys[place + 1 : -1]])

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def middle_stays(stack: ExitStack) -> None:
    """A hook that has one before it and one behind it cannot be removed."""

    def remove(original: Any, handle: Any) -> None:
        if handle.id not in keys_of(handle)[1:-1]:
            original(handle)

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def removed_twice_takes_another(stack: ExitStack) -> None:
    """Removing a handle a second time removes the oldest hook that is left."""

    def remove(original: Any, handle: Any) -> None:
        keys = keys_of(handle)
        if keys and handle.id not in keys:
            del handle.hooks_dict_ref()[keys[0]]
        original(handle)

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def removed_twice_raises(stack: ExitStack) -> None:
    """Removing a handle a second time raises KeyError."""

    def remove(original: Any, handle: Any) -> None:
        if handle.hooks_dict_ref() is not None and handle.id not in keys_of(handle):
            raise KeyError(handle.id)
        original(handle)

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def global_stays(stack: ExitStack) -> None:
    """Removing the handle of a global hook has no effect."""
    stores = [getattr(torch_module, "_global" + name, None) for name in Call.STORES]

    def remove(original: Any, handle: Any) -> None:
        if not any(handle.hooks_dict_ref() is store for store in stores if store is not None):
            original(handle)

    patch_remove(stack, remove)


@fault("handles", "ordering", subtle=True)
def removal_allows_other_sort(stack: ExitStack) -> None:
    """Once its full backward hooks are removed a module takes legacy ones, and the other way round."""
    for name in ("register_backward_hook", "register_full_backward_hook"):
        original = getattr(Module, name)

        @functools.wraps(original)
        def register(self: Any, hook: Any, *, original: Any = original, **options: Any) -> Any:
            if not self._backward_hooks:
                self._is_full_backward_hook = None
            return original(self, hook, **options)

        swap(stack, Module, name, register)


@fault("backward", subtle=True)
def sorts_mix(stack: ExitStack) -> None:
    """A module takes full and legacy backward hooks together; the newest decides the sort of all."""
    for name in ("register_backward_hook", "register_full_backward_hook"):
        original = getattr(Module, name)

        @functools.wraps(original)
        def register(self: Any, hook: Any, *, original: Any = original, **options: Any) -> Any:
            self._is_full_backward_hook = None
            return original(self, hook, **options)

        swap(stack, Module, name, register)


# --- handles -----------------------------------------------------------------------------------


@fault("handles", "ordering", subtle=True)
def ids_reused(stack: ExitStack) -> None:
    """The id of a handle is the number of hooks in its dict, so that a removal makes two hooks share one."""
    original = RemovableHandle.__init__

    def init(self: Any, hooks_dict: Any, *given: Any, **extra: Any) -> None:
        original(self, hooks_dict, *given, **extra)
        self.id = len(hooks_dict)

    swap(stack, RemovableHandle, "__init__", init)


@fault("handles", "ordering", "tutorial")
def exit_keeps(stack: ExitStack) -> None:
    """Leaving the context manager of a handle does not remove the hook."""
    swap(stack, RemovableHandle, "__exit__", lambda self, *given: None)


@fault("handles", "ordering", "tutorial", subtle=True)
def exit_keeps_on_error(stack: ExitStack) -> None:
    """Leaving the context manager of a handle through an exception does not remove the hook."""
    swap(stack, RemovableHandle, "__exit__", lambda self, kind, *given: kind is None and self.remove())


@fault("handles", "ordering", subtle=True)
def exit_swallows(stack: ExitStack) -> None:
    """The context manager of a handle swallows exceptions."""
    original = RemovableHandle.__exit__
    swap(stack, RemovableHandle, "__exit__", lambda self, *given: [original(self, *given)] and True)


@fault("handles", "ordering", subtle=True)
def enter_gives_none(stack: ExitStack) -> None:
    """`with module.register_…(hook) as handle` gives None for the handle."""
    swap(stack, RemovableHandle, "__enter__", lambda self: None)


@fault("handles", "ordering", subtle=True)
def copy_loses_hooks(stack: ExitStack) -> None:
    """A deep copy of a module has no forward hooks."""
    original = Module.__setstate__

    def setstate(self: Any, state: Any) -> None:
        original(self, state)
        for store in FORWARD_STORES:
            setattr(self, store, OrderedDict())

    swap(stack, Module, "__setstate__", setstate)


@fault("handles", "ordering", subtle=True)
def copy_shares_hooks(stack: ExitStack) -> None:
    """A deep copy of a module shares the dict of forward hooks with the original."""

    def deepcopy(self: Any, memo: Any) -> Any:
        memo[id(self._forward_hooks)] = self._forward_hooks
        made = self.__class__.__new__(self.__class__)
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__dict__, memo))
        return made

    Module.__deepcopy__ = deepcopy  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(Module, "__deepcopy__"))


# --- registration ------------------------------------------------------------------------------


def patch_register(stack: ExitStack, name: str, change: Callable[..., Any]) -> None:
    """Let `change(module, handle, options)` have the last word on a registration."""
    original = getattr(Module, name)

    @functools.wraps(original)
    def register(self: Any, hook: Any, *given: Any, **options: Any) -> Any:
        handle = original(self, hook, *given, **options)
        change(self, handle, options)
        return handle

    swap(stack, Module, name, register)


def back(store: str) -> Callable[..., None]:
    return lambda self, handle, options: getattr(self, store).move_to_end(handle.id)


def second(store: str) -> Callable[..., None]:
    """Prepending puts a hook behind the first one."""

    def change(self: Any, handle: Any, options: Any) -> None:
        hooks = getattr(self, store)
        if options.get("prepend") and len(hooks) > 1:
            hooks.move_to_end(list(hooks)[1], last=False)

    return change


@fault("handles", "ordering", needs=OPTIONS)
def pre_prepend_ignored(stack: ExitStack) -> None:
    """prepend= of a forward pre-hook has no effect."""
    patch_register(stack, "register_forward_pre_hook", back("_forward_pre_hooks"))


@fault("handles", "ordering", needs=OPTIONS)
def forward_prepend_ignored(stack: ExitStack) -> None:
    """prepend= of a forward hook has no effect."""
    patch_register(stack, "register_forward_hook", back("_forward_hooks"))


@fault("handles", "ordering", "backward", needs=FULL_OPTIONS, subtle=True)
def full_prepend_ignored(stack: ExitStack) -> None:
    """prepend= of a full backward hook has no effect."""
    patch_register(stack, "register_full_backward_hook", back("_backward_hooks"))


@fault("handles", "ordering", "backward", needs=FULL_OPTIONS, subtle=True)
def full_pre_prepend_ignored(stack: ExitStack) -> None:
    """prepend= of a full backward pre-hook has no effect."""
    patch_register(stack, "register_full_backward_pre_hook", back("_backward_pre_hooks"))


@fault("handles", "ordering", needs=OPTIONS, subtle=True)
def prepend_second(stack: ExitStack) -> None:
    """A prepended forward hook goes behind the first one instead of before it."""
    patch_register(stack, "register_forward_hook", second("_forward_hooks"))


@fault("handles", "ordering", needs=OPTIONS, subtle=True)
def prepend_forgets_keywords(stack: ExitStack) -> None:
    """A forward pre-hook that is prepended and with_kwargs is called without the keyword arguments."""

    def change(self: Any, handle: Any, options: Any) -> None:
        if options.get("prepend"):
            self._forward_pre_hooks_with_kwargs.pop(handle.id, None)

    patch_register(stack, "register_forward_pre_hook", change)


@fault("output.always", needs="torch.nn.Module.register_forward_hook(always_call)", subtle=True)
def prepend_forgets_always(stack: ExitStack) -> None:
    """A forward hook that is prepended and always_call is not called after a failure."""

    def change(self: Any, handle: Any, options: Any) -> None:
        if options.get("prepend"):
            self._forward_hooks_always_called.pop(handle.id, None)

    patch_register(stack, "register_forward_hook", change)


@fault("output.always", needs="torch.nn.Module.register_forward_hook(always_call)", subtle=True)
def keywords_forget_always(stack: ExitStack) -> None:
    """A forward hook that is with_kwargs and always_call is not called after a failure."""

    def change(self: Any, handle: Any, options: Any) -> None:
        if options.get("with_kwargs"):
            self._forward_hooks_always_called.pop(handle.id, None)

    patch_register(stack, "register_forward_hook", change)


@fault("handles", "ordering", subtle=True)
def registered_once(stack: ExitStack) -> None:
    """A function that is registered as a forward hook a second time is called only once."""

    def change(self: Any, handle: Any, options: Any) -> None:
        function = self._forward_hooks[handle.id]
        for key in [key for key, one in self._forward_hooks.items() if one is function and key != handle.id]:
            del self._forward_hooks[key]

    patch_register(stack, "register_forward_hook", change)


@fault("output.calls", subtle=True)
def two_parameters_accepted(stack: ExitStack) -> None:
    """A forward hook that is written with two parameters is called with the module and the output."""

    def change(self: Any, handle: Any, options: Any) -> None:
        hook = self._forward_hooks[handle.id]
        code = getattr(hook, "__code__", None)
        if code is not None and code.co_argcount == 2 and not code.co_flags & inspect.CO_VARARGS:
            self._forward_hooks[handle.id] = lambda module, inputs, output: hook(module, output)

    patch_register(stack, "register_forward_hook", change)


@fault("handles", "ordering", subtle=True)
def copies_at_registration(stack: ExitStack) -> None:
    """Hooks registered after the first call of a module are not called."""
    patch_register(
        stack,
        "register_forward_hook",
        lambda self, handle, options: getattr(self, "_called", False) and self._forward_hooks.pop(handle.id),
    )
    original = Module._call_impl

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.__dict__["_called"] = True
        return original(self, *args, **kwargs)

    for name in ("_call_impl", "__call__"):
        swap(stack, Module, name, call)
