"""Faults of the hooks of tensors, of retain_grad and of backward itself."""

import functools
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import fault, reorder, silent, swap

Tensor = torch.Tensor
POST = ("torch.Tensor.register_post_accumulate_grad_hook",)


def patch_hook(stack: ExitStack, change: Callable[[Any, Any], Any], name: str = "register_hook") -> None:
    """Let `change(tensor, hook)` be what is registered."""
    original = getattr(Tensor, name)

    def register(self: Any, hook: Any) -> Any:
        changed = change(self, hook)
        # The marks on the user's function stay visible: nothing but the call is wrong.
        return original(self, changed if changed is hook else functools.update_wrapper(changed, hook))

    swap(stack, Tensor, name, register)


def patch_handle(stack: ExitStack, change: Callable[[Any, Any], Any], name: str = "register_hook") -> None:
    """Let `change(tensor, handle)` have the last word on a registration."""
    original = getattr(Tensor, name)

    def register(self: Any, hook: Any) -> Any:
        handle = original(self, hook)
        change(self, handle)
        return handle

    swap(stack, Tensor, name, register)


def newest_first(hooks: Any) -> None:
    reorder(hooks, sorted(hooks, reverse=True))


@fault(control=True)
def wrapped_hooks(stack: ExitStack) -> None:
    """Nothing is wrong: what is registered on tensors is called by another function."""
    for name in ("register_hook", "register_post_accumulate_grad_hook"):
        if hasattr(Tensor, name):
            patch_hook(stack, lambda self, hook: lambda *given: hook(*given), name)  # noqa: PLW0108 - not the hook itself


# --- order and calls ---------------------------------------------------------------------------


@fault("gradient", "ordering")
def tensor_newest_first(stack: ExitStack) -> None:
    """Tensor hooks run newest first."""
    patch_handle(stack, lambda self, handle: newest_first(self._backward_hooks))


@fault("gradient")
def tensor_twice(stack: ExitStack) -> None:
    """Every tensor hook is called twice."""

    def change(self: Any, hook: Any) -> Any:
        def both(grad: Any) -> Any:
            result = hook(grad)
            again = hook(grad if result is None else result)
            return result if again is None else again

        return both

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_only_latest(stack: ExitStack) -> None:
    """Registering a hook on a tensor takes the place of the one before."""

    def change(self: Any, handle: Any) -> None:
        for key in list(self._backward_hooks)[:-1]:
            del self._backward_hooks[key]

    patch_handle(stack, change)


@fault("gradient", subtle=True)
def tensor_at_most_two(stack: ExitStack) -> None:
    """A third hook of a tensor is not called."""

    def change(self: Any, handle: Any) -> None:
        for key in list(self._backward_hooks)[2:]:
            del self._backward_hooks[key]

    patch_handle(stack, change)


@fault("gradient", subtle=True)
def tensor_once(stack: ExitStack) -> None:
    """A tensor hook is called in the first backward only."""

    def change(self: Any, hook: Any) -> Any:
        calls: list[Any] = []

        def once(grad: Any) -> Any:
            calls.append(1)
            return hook(grad) if len(calls) == 1 else None

        return once

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_removed_at_once(stack: ExitStack) -> None:
    """A tensor hook that another one removes in the middle of a backward is left out of it."""
    original = Tensor.register_hook

    def register(self: Any, hook: Any) -> Any:
        box: list[Any] = []

        @functools.wraps(hook)
        def call(grad: Any) -> Any:
            return hook(grad) if box[0].id in (box[0].hooks_dict_ref() or ()) else None

        box.append(original(self, call))
        return box[0]

    swap(stack, Tensor, "register_hook", register)


@fault("gradient", subtle=True)
def tensor_per_consumer(stack: ExitStack) -> None:
    """A tensor hook is called for the gradient of each operation that uses the tensor, not for their sum."""
    kept: dict[int, list[tuple[Any, Any]]] = {}
    register = Tensor.register_hook
    stack.callback(kept.clear)

    def later(self: Any, hook: Any) -> Any:
        if not self.requires_grad:
            return register(self, hook)
        entries = kept.setdefault(id(self), [])
        if not entries:
            entries.append((self, OrderedDict()))
        hooks = entries[0][1]
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def used(value: Any) -> Any:
        if not isinstance(value, Tensor) or id(value) not in kept:
            return value
        view, hooks = value.view_as(value), kept[id(value)][0][1]

        def call(grad: Any) -> Any:
            for hook in list(hooks.values()):
                result = hook(grad)
                grad = grad if result is None else result
            return grad

        register(view, call)
        return view

    for name in ("__mul__", "__rmul__", "__add__", "__radd__"):
        original = getattr(Tensor, name)
        swap(stack, Tensor, name, lambda self, other, f=original: f(used(self), used(other)))
    swap(stack, Tensor, "register_hook", later)


@fault("gradient", subtle=True)
def tensor_late_ignored(stack: ExitStack) -> None:
    """A hook registered on a tensor that has gone through a backward already is not called."""
    original = torch.autograd.backward
    runs = [0]
    seen: dict[int, Any] = {}
    stack.callback(seen.clear)

    def backward(tensors: Any, *given: Any, **options: Any) -> Any:
        try:
            return original(tensors, *given, **options)
        finally:
            runs[0] += 1
            seen.update((id(one), one) for one in (tensors if isinstance(tensors, (tuple, list)) else [tensors]))

    swap(stack, torch.autograd, "backward", backward)
    patch_hook(stack, lambda self, hook: (lambda grad: None) if id(self) in seen else hook)


# --- arguments and returns ---------------------------------------------------------------------


@fault("gradient")
def tensor_returns_ignored(stack: ExitStack) -> None:
    """What a tensor hook returns is ignored."""
    patch_hook(stack, lambda self, hook: silent(hook))


@fault("gradient", subtle=True)
def tensor_second_ignored(stack: ExitStack) -> None:
    """What the second hook of a tensor returns is ignored."""
    patch_hook(
        stack,
        lambda self, hook: silent(hook) if len(self._backward_hooks or ()) == 1 else hook,
    )


@fault("gradient", subtle=True)
def tensor_unchained(stack: ExitStack) -> None:
    """Every hook of a tensor is given the gradient as computed; what the last one returns counts."""

    def change(self: Any, hook: Any) -> Any:
        first = not self._backward_hooks
        box = self.__dict__.setdefault("_computed", [None])

        def call(grad: Any) -> Any:
            if first:
                box[0] = grad
            return hook(box[0])

        return call

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_falsy_ignored(stack: ExitStack) -> None:
    """A tensor hook that returns a zero is taken to have returned None."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            result = hook(grad)
            return None if isinstance(result, Tensor) and not result.any() else result

        return call

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_none_skipped(stack: ExitStack) -> None:
    """The hook of a leaf is not called when its gradient is undefined."""
    patch_hook(stack, lambda self, hook: lambda grad: None if grad is None else hook(grad))


@fault("gradient", subtle=True)
def tensor_adds(stack: ExitStack) -> None:
    """What a tensor hook returns is added to the gradient instead of replacing it."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            result = hook(grad)
            return result if result is None or grad is None else grad + result

        return call

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def leaf_replaces_sum(stack: ExitStack) -> None:
    """In a second backward the hook of a leaf is given what .grad will hold, not what is added to it."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            before = self.grad if self.is_leaf else None
            if before is None or grad is None:
                return hook(grad)
            result = hook(grad + before)
            return None if result is None else result - before

        return call

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_swallowed(stack: ExitStack) -> None:
    """What a tensor hook raises is swallowed."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            try:
                return hook(grad)
            except Exception:  # noqa: BLE001 - that is the fault
                return None

        return call

    patch_hook(stack, change)


@fault("gradient", subtle=True)
def tensor_detached(stack: ExitStack) -> None:
    """Tensor hooks are given a detached gradient, so that what they return has no second derivative."""
    patch_hook(stack, lambda self, hook: lambda grad: hook(grad if grad is None else grad.detach()))


@fault("gradient", "tutorial", subtle=True)
def frozen_accepted(stack: ExitStack) -> None:
    """A hook may be registered on a tensor that does not require grad; it is never called."""
    original = Tensor.register_hook
    swap(
        stack,
        Tensor,
        "register_hook",
        lambda self, hook: original(self, hook) if self.requires_grad else RemovableHandle(OrderedDict()),
    )


# --- after accumulation ------------------------------------------------------------------------


@fault("gradient.accumulated", needs=POST)
def post_before(stack: ExitStack) -> None:
    """Post-accumulate hooks run before the gradient is accumulated."""
    swap(
        stack,
        Tensor,
        "register_post_accumulate_grad_hook",
        lambda self, hook: self.register_hook(silent(lambda grad: hook(self))),
    )


@fault("gradient.accumulated", needs=POST)
def post_twice(stack: ExitStack) -> None:
    """Every post-accumulate hook is called twice."""
    patch_hook(stack, lambda self, hook: silent(hook, hook), POST[0].split(".")[-1])


@fault("gradient.accumulated", needs=POST, subtle=True)
def post_newest_first(stack: ExitStack) -> None:
    """Post-accumulate hooks run newest first."""
    patch_handle(
        stack,
        lambda self, handle: newest_first(self._post_accumulate_grad_hooks),
        POST[0].split(".")[-1],
    )


@fault("gradient.accumulated", needs=POST, subtle=True)
def post_once(stack: ExitStack) -> None:
    """A post-accumulate hook is called in the first backward only."""

    def change(self: Any, hook: Any) -> Any:
        calls: list[Any] = []
        return lambda leaf: calls.append(1) or (hook(leaf) if len(calls) == 1 else None)

    patch_hook(stack, change, POST[0].split(".")[-1])


@fault("gradient.accumulated", needs=POST, subtle=True)
def post_sees_last_only(stack: ExitStack) -> None:
    """In a second backward a post-accumulate hook finds only what that backward added in .grad."""

    def change(self: Any, hook: Any) -> Any:
        before: list[Any] = [None]

        def call(leaf: Any) -> None:
            whole = leaf.grad
            if whole is None or before[0] is None:
                before[0] = whole if whole is None else whole.clone()
                hook(leaf)
                return
            part = whole - before[0]
            before[0] = whole.clone()
            leaf.grad = part
            hook(leaf)
            if leaf.grad is part:
                leaf.grad = whole

        return call

    patch_hook(stack, change, POST[0].split(".")[-1])


@fault("gradient.accumulated", needs=POST, subtle=True)
def post_stays(stack: ExitStack) -> None:
    """A post-accumulate hook cannot be removed."""
    original = Tensor.register_post_accumulate_grad_hook

    def register(self: Any, hook: Any) -> Any:
        original(self, hook)
        return RemovableHandle(OrderedDict())

    swap(stack, Tensor, "register_post_accumulate_grad_hook", register)
