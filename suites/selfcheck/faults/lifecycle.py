"""Faults of handles and registration: removal, ids, options, context managers, copies, and what these keep."""

import copy
import functools
import inspect
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import fault, rows, swap

ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"


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


def takes_another(original: Any, handle: Any) -> None:
    keys = keys_of(handle)
    if keys and handle.id not in keys:
        del handle.hooks_dict_ref()[keys[0]]
    original(handle)


def leaves_always_call(original: Any, handle: Any) -> None:
    kept = [(one(), dict(one() or {})) for one in handle.extra_dict_ref[1:]]
    original(handle)
    for flags, before in kept:
        if flags is not None:
            flags.update(before)


rows("handles", "ordering", needs=ALWAYS_CALL)(
    (
        "removal_ignored",
        "Removing a handle has no effect.",
        partial(patch_remove, remove=lambda original, handle: None),
    ),
    (
        "removed_twice_takes_another",
        "Removing a handle a second time removes the oldest hook that is left.",
        partial(patch_remove, remove=takes_another),
    ),
    (
        "removal_leaves_always_call",
        "Removing a forward hook leaves its always_call behind in the module.",
        partial(patch_remove, remove=leaves_always_call),
    ),
)


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


# --- handles -----------------------------------------------------------------------------------


def patch_init(stack: ExitStack, change: Callable[[Any, Any], None]) -> None:
    """Let `change(handle, hooks)` have the last word on a new handle."""
    original = RemovableHandle.__init__

    def init(self: Any, hooks_dict: Any, *given: Any, **extra: Any) -> None:
        original(self, hooks_dict, *given, **extra)
        change(self, hooks_dict)

    swap(stack, RemovableHandle, "__init__", init)


def copy_handle(stack: ExitStack) -> None:
    RemovableHandle.__deepcopy__ = lambda self, memo: self  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(RemovableHandle, "__deepcopy__"))


rows("handles", "ordering")(
    (
        "handle_owns_hooks",
        "A handle has a strong reference to the dict of hooks, so that hooks outlive their module.",
        partial(patch_init, change=lambda handle, hooks: setattr(handle, "owned", hooks)),
    ),
    (
        "handle_copy_is_the_handle",
        "A handle that is deep-copied is the same handle, so that it still removes from the original.",
        copy_handle,
    ),
    (
        "enter_gives_none",
        "`with module.register_…(hook) as handle` gives None for the handle.",
        lambda stack: swap(stack, RemovableHandle, "__enter__", lambda self: None),
    ),
)


# --- copies ------------------------------------------------------------------------------------


def patch_copy(stack: ExitStack, before: Callable[[Any, Any], None], after: Callable[[Any], None]) -> None:
    """Have something done before a module is deep-copied, with its memo, and behind it with the copy."""

    def deepcopy(self: Any, memo: Any) -> Any:
        before(self, memo)
        made = self.__class__.__new__(self.__class__)
        memo[id(self)] = made
        made.__setstate__(copy.deepcopy(self.__dict__, memo))
        after(made)
        return made

    Module.__deepcopy__ = deepcopy  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(Module, "__deepcopy__"))


def nothing(*given: Any) -> None:
    """What is done where nothing is."""


def old_state(stack: ExitStack) -> None:
    swap(stack, Module, "__setstate__", lambda self, state: self.__dict__.update(state))


rows("handles", needs=ALWAYS_CALL)(
    (
        "copy_shares_hooks",
        "A deep copy of a module shares the dict of forward hooks with the original.",
        partial(
            patch_copy,
            before=lambda module, memo: memo.update({id(module._forward_hooks): module._forward_hooks}),
            after=nothing,
        ),
    ),
    (
        "copy_forgets_always_call",
        "The forward hooks of a deep copy have lost always_call.",
        partial(patch_copy, before=nothing, after=lambda made: made._forward_hooks_always_called.clear()),
    ),
    (
        "old_state_not_completed",
        "Loading the state of an older module does not make up for the dicts of options that it lacks.",
        old_state,
    ),
)


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


def moved_back(module: Any, handle: Any, options: Any) -> None:
    module._backward_pre_hooks.move_to_end(handle.id)


def forgets_always(option: str) -> Callable[..., None]:
    """Registered with this option a forward hook has lost always_call."""

    def change(module: Any, handle: Any, options: Any) -> None:
        if options.get(option):
            module._forward_hooks_always_called.pop(handle.id, None)

    return change


rows("handles", "ordering", "backward", needs="torch.nn.Module.register_full_backward_hook(prepend)")(
    (
        "full_pre_prepend_ignored",
        "prepend= of a full backward pre-hook has no effect.",
        partial(patch_register, name="register_full_backward_pre_hook", change=moved_back),
    ),
)
rows("output.always", needs=ALWAYS_CALL)(
    (
        "prepend_forgets_always",
        "A forward hook that is prepended and always_call is not called after a failure.",
        partial(patch_register, name="register_forward_hook", change=forgets_always("prepend")),
    ),
    (
        "keywords_forget_always",
        "A forward hook that is with_kwargs and always_call is not called after a failure.",
        partial(patch_register, name="register_forward_hook", change=forgets_always("with_kwargs")),
    ),
)


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


# --- hooks that are no functions ---------------------------------------------------------------


def weak(hook: Any) -> Any:
    """A bound method by a weak reference to its object; anything else as it is."""
    if not inspect.ismethod(hook):
        return hook
    method = weakref.WeakMethod(hook)

    def call(*given: Any) -> Any:
        found = method()
        return None if found is None else found(*given)

    return call


@fault("handles.functions", subtle=True)
def methods_held_weakly(stack: ExitStack) -> None:
    """A bound method that is a hook around forward does not keep its object alive."""
    for name in ("register_forward_hook", "register_forward_pre_hook"):
        original = getattr(Module, name)

        @functools.wraps(original)
        def register(self: Any, hook: Any, *, original: Any = original, **options: Any) -> Any:
            return original(self, weak(hook), **options)

        swap(stack, Module, name, register)
