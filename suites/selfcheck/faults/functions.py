"""Faults that show only with hooks that are no plain functions, or with one function in several places."""

import functools
import inspect
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import Call, Entries, Full, fault, swap
from suites.selfcheck.faults.node import PRE as NODE_PRE
from suites.selfcheck.faults.node import patch_node
from suites.selfcheck.faults.tensor import POST, Tensor, patch_hook

FULL = ("torch.nn.Module.register_full_backward_hook",)
NEAR = "handles.functions"


def nothing(*given: Any) -> None:
    """A hook that does nothing."""


def patch_module(stack: ExitStack, names: tuple[str, ...], change: Callable[[Any, Any], Any]) -> None:
    """Let `change(module, hook)` be what is registered on modules."""
    for name in names:
        original = getattr(Module, name)

        @functools.wraps(original)
        def register(self: Any, hook: Any, *, original: Any = original, **options: Any) -> Any:
            return original(self, change(self, hook), **options)

        swap(stack, Module, name, register)


def weak(hook: Any) -> Any:
    """A bound method by a weak reference to its object; anything else as it is."""
    if not inspect.ismethod(hook):
        return hook
    method = weakref.WeakMethod(hook)

    def call(*given: Any) -> Any:
        found = method()
        return None if found is None else found(*given)

    return call


@fault(NEAR, subtle=True)
def methods_held_weakly(stack: ExitStack) -> None:
    """A bound method that is a hook around forward does not keep its object alive."""
    patch_module(stack, ("register_forward_hook", "register_forward_pre_hook"), lambda self, hook: weak(hook))


@fault(NEAR, subtle=True)
def tensor_methods_held_weakly(stack: ExitStack) -> None:
    """A bound method that is a hook of a tensor does not keep its object alive."""
    original = Tensor.register_hook
    swap(stack, Tensor, "register_hook", lambda self, hook: original(self, weak(hook)))


@fault(NEAR, subtle=True)
class FalseIsNoHook(Call):
    """A forward hook or pre-hook that is false, such as an empty list that can be called, is left out."""

    def entries(self, store: str) -> Entries:
        return [(key, hook) for key, hook in super().entries(store) if hook]


@fault(NEAR, needs=FULL, subtle=True)
class FalseIsNoFullHook(Full):
    """A full backward hook that is false is left out."""

    def __init__(self, module: Any, user_hooks: list[Any], *given: Any) -> None:
        super().__init__(module, [hook for hook in user_hooks if hook], *given)


@fault(NEAR, subtle=True)
class EqualOnce(Call):
    """Of several forward hooks that are equal only the first is called."""

    def entries(self, store: str) -> Entries:
        kept: Entries = []
        for key, hook in super().entries(store):
            if store != "_forward_hooks" or all(hook != other for _, other in kept):
                kept.append((key, hook))
        return kept


@fault(NEAR, subtle=True)
def tensor_once_a_function(stack: ExitStack) -> None:
    """A function that is registered a second time on a tensor is called once."""
    patch_hook(stack, lambda self, hook: nothing if hook in list((self._backward_hooks or {}).values()) else hook)


@fault(NEAR, needs=POST, subtle=True)
def post_once_a_function(stack: ExitStack) -> None:
    """A function that is a post-accumulate hook of one leaf is not called for another."""
    known: list[Any] = []
    stack.callback(known.clear)

    def change(self: Any, hook: Any) -> Any:
        again = any(hook is one for one in known)
        known.append(hook)
        return nothing if again else hook

    patch_hook(stack, change, POST[0].split(".")[-1])


@fault(NEAR, "handles", subtle=True)
def all_of_a_function(stack: ExitStack) -> None:
    """A handle removes all registrations of its function in that place."""
    original = RemovableHandle.remove

    @functools.wraps(original)
    def remove(self: Any) -> None:
        hooks = self.hooks_dict_ref()
        if hooks is not None and self.id in hooks:
            gone = hooks[self.id]
            for key in [key for key, hook in hooks.items() if hook is gone]:
                del hooks[key]
        original(self)

    swap(stack, RemovableHandle, "remove", remove)


@fault(NEAR, subtle=True)
class LegacyNeedsName(Call):
    """A legacy backward hook without __name__ is not attached."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach([hook for hook in legacy if hasattr(hook, "__name__")])


@fault(NEAR, subtle=True)
def tensor_needs_hash(stack: ExitStack) -> None:
    """register_hook of a tensor refuses what is not hashable."""

    def change(self: Any, hook: Any) -> Any:
        hash(hook)
        return hook

    patch_hook(stack, change)


@fault(NEAR, subtle=True)
def partial_silent(stack: ExitStack) -> None:
    """A partial that is a hook around forward is called, but what it returns is dropped."""

    def change(self: Any, hook: Any) -> Any:
        if not isinstance(hook, functools.partial):
            return hook
        return lambda *given: nothing(hook(*given))

    patch_module(stack, ("register_forward_hook", "register_forward_pre_hook"), change)


@fault(NEAR, subtle=True)
def node_functions_only(stack: ExitStack) -> None:
    """A node takes functions and methods as hooks; of an object it calls nothing."""
    patch_node(stack, lambda register, hook: register(hook if inspect.isroutine(hook) else nothing))


@fault(NEAR, needs=NODE_PRE, subtle=True)
def node_pre_unequal(stack: ExitStack) -> None:
    """A pre-hook of a node that is equal to the one registered before it, on any node, is not called."""
    latest: list[Any] = [None]
    stack.callback(latest.clear)

    def register(own: Any, hook: Any) -> Any:
        same = latest[-1] == hook
        latest.append(hook)
        return own(nothing if same else hook)

    patch_node(stack, register, "register_prehook")


@fault(NEAR, "retain", subtle=True)
def retain_counts_functions(stack: ExitStack) -> None:
    """retain_grad() keeps nothing for a tensor that has one function registered twice."""
    original = Tensor.retain_grad

    def retain(self: Any) -> None:
        hooks = list((self._backward_hooks or {}).values())
        if all(one is not two for place, one in enumerate(hooks) for two in hooks[:place]):
            original(self)

    swap(stack, torch.Tensor, "retain_grad", retain)
