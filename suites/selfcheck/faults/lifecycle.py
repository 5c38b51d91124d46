"""Faults of handles and registration: removal, ids, options, context managers, copies, and what these keep."""

import copy
import inspect
import weakref
from contextlib import ExitStack
from typing import Any

from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import fault, patched, rows, swap

ALWAYS_CALL = "torch.nn.Module.register_forward_hook(always_call)"
NEAR = ("handles", "ordering")


@fault(control=True)
def wrapped_handles(stack: ExitStack) -> None:
    """Nothing is wrong: hooks are registered on modules and removed by other functions."""
    owners = {"remove": RemovableHandle, "register_forward_pre_hook": Module, "register_forward_hook": Module}
    for name, owner in owners.items():
        right = getattr(owner, name)
        swap(stack, owner, name, lambda *given, right=right, **options: right(*given, **options))


# --- handles -----------------------------------------------------------------------------------


@patched(RemovableHandle, "remove", *NEAR, subtle=False)
def removal_ignored(right: Any, handle: Any) -> None:
    """Removing a handle has no effect."""


@patched(RemovableHandle, "remove", *NEAR)
def removed_twice_takes_another(right: Any, handle: Any) -> None:
    """Removing a handle a second time removes the oldest hook that is left."""
    hooks = handle.hooks_dict_ref()
    if hooks and handle.id not in hooks:
        del hooks[next(iter(hooks))]
    right(handle)


@patched(RemovableHandle, "remove", *NEAR, needs=ALWAYS_CALL)
def removal_leaves_always_call(right: Any, handle: Any) -> None:
    """Removing a forward hook leaves its always_call behind in the module."""
    kept = [(one(), dict(one() or {})) for one in handle.extra_dict_ref[1:]]
    right(handle)
    for flags, before in kept:
        if flags is not None:
            flags.update(before)


@patched(RemovableHandle, "__init__", "handles")
def handle_owns_hooks(right: Any, self: Any, hooks: Any, *given: Any, **extra: Any) -> None:
    """A handle has a strong reference to the dict of hooks, so that hooks outlive their module."""
    right(self, hooks, *given, **extra)
    self.owned = hooks


@patched(RemovableHandle, "__enter__", *NEAR)
def enter_gives_none(right: Any, self: Any) -> None:
    """`with module.register_…(hook) as handle` gives None for the handle."""


@fault("handles", subtle=True)
def handle_copy_is_the_handle(stack: ExitStack) -> None:
    """A handle that is deep-copied is the same handle, so that it still removes from the original."""
    RemovableHandle.__deepcopy__ = lambda self, memo: self  # type: ignore[attr-defined]
    stack.callback(lambda: delattr(RemovableHandle, "__deepcopy__"))


# --- registration ------------------------------------------------------------------------------


@patched(Module, "register_full_backward_pre_hook", *NEAR, "backward", needs=ALWAYS_CALL)
def full_pre_prepend_ignored(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """prepend= of a full backward pre-hook has no effect."""
    return right(self, hook)


@patched(Module, "register_forward_hook", "output.always", needs=ALWAYS_CALL)
def prepend_forgets_always(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """A forward hook that is prepended and always_call is not called after a failure."""
    return right(self, hook, **({**options, "always_call": False} if options.get("prepend") else options))


@patched(Module, "register_forward_hook", "output.always", needs=ALWAYS_CALL)
def keywords_forget_always(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """A forward hook that is with_kwargs and always_call is not called after a failure."""
    return right(self, hook, **({**options, "always_call": False} if options.get("with_kwargs") else options))


@patched(Module, "register_forward_hook", "output.calls")
def two_parameters_accepted(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """A forward hook that is written with two parameters is called with the module and the output."""
    code = getattr(hook, "__code__", None)
    two = code is not None and code.co_argcount == 2 and not code.co_flags & inspect.CO_VARARGS
    return right(self, (lambda module, inputs, output: hook(module, output)) if two else hook, **options)


@patched(Module, ("register_backward_hook", "register_full_backward_hook"), *NEAR)
def removal_allows_other_sort(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """Once its full backward hooks are removed a module takes legacy ones, and the other way round."""
    if not self._backward_hooks:
        self._is_full_backward_hook = None
    return right(self, hook, **options)


@fault(*NEAR, subtle=True)
def copies_at_registration(stack: ExitStack) -> None:
    """Hooks registered after the first call of a module are not called."""
    right, call = Module.register_forward_hook, Module._call_impl

    def register(self: Any, hook: Any, **options: Any) -> Any:
        handle = right(self, hook, **options)
        if "_called" in vars(self):
            self._forward_hooks.pop(handle.id)
        return handle

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        vars(self)["_called"] = True
        return call(self, *args, **kwargs)

    swap(stack, Module, "register_forward_hook", register)
    for name in ("_call_impl", "__call__"):
        swap(stack, Module, name, noted)


def weak(hook: Any) -> Any:
    """A bound method by a weak reference to its object; anything else as it is."""
    if not inspect.ismethod(hook):
        return hook
    method = weakref.WeakMethod(hook)

    def call(*given: Any) -> Any:
        found = method()
        return None if found is None else found(*given)

    return call


@patched(Module, ("register_forward_hook", "register_forward_pre_hook"), "handles.functions")
def methods_held_weakly(right: Any, self: Any, hook: Any, **options: Any) -> Any:
    """A bound method that is a hook around forward does not keep its object alive."""
    return right(self, weak(hook), **options)


# --- copies ------------------------------------------------------------------------------------


@patched(Module, "__setstate__", "handles", needs=ALWAYS_CALL)
def old_state_not_completed(right: Any, self: Any, state: Any) -> None:
    """Loading the state of an older module does not make up for the dicts of options that it lacks."""
    vars(self).update(state)


def share_hooks(module: Any, made: Any, memo: Any) -> None:
    memo[id(module._forward_hooks)] = module._forward_hooks
    made.__setstate__(copy.deepcopy(vars(module), memo))


def forget_always(module: Any, made: Any, memo: Any) -> None:
    made.__setstate__(copy.deepcopy(vars(module), memo))
    made._forward_hooks_always_called.clear()


def copied(fill: Any) -> Any:
    """Modules that are deep-copied by `fill(module, made, memo)`."""

    def deepcopy(self: Any, memo: Any) -> Any:
        made = memo[id(self)] = self.__class__.__new__(self.__class__)
        fill(self, made, memo)
        return made

    def enter(stack: ExitStack) -> None:
        Module.__deepcopy__ = deepcopy  # type: ignore[attr-defined]
        stack.callback(lambda: delattr(Module, "__deepcopy__"))

    return enter


rows("handles", needs=ALWAYS_CALL)(
    (
        "copy_shares_hooks",
        "A deep copy of a module shares the dict of forward hooks with the original.",
        copied(share_hooks),
    ),
    ("copy_forgets_always_call", "The forward hooks of a deep copy have lost always_call.", copied(forget_always)),
)
