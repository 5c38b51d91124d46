"""Faults of retain_grad and retains_grad."""

import functools
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, patched, rows, swap

Tensor = torch.Tensor


def patch_retain(stack: ExitStack, retain: Any) -> Any:
    """Let `retain(tensor, original)` be retain_grad for tensors that are no leaves."""
    original = Tensor.retain_grad

    def retain_grad(self: Any) -> Any:
        if self.is_leaf or self.retains_grad:
            return original(self)
        return retain(self, original)

    swap(stack, Tensor, "retain_grad", retain_grad)


def add(tensor: Any, grad: Any) -> None:
    if grad is not None:
        tensor.grad = grad.clone() if tensor.grad is None else tensor.grad + grad


@fault(control=True)
def wrapped_backward(stack: ExitStack) -> None:
    """Nothing is wrong: retain_grad and backward are called by other functions."""
    backward = torch.autograd.backward
    patch_retain(stack, lambda self, original: original(self))

    @functools.wraps(backward)
    def call(*given: Any, **options: Any) -> None:
        backward(*given, **options)

    swap(stack, torch.autograd, "backward", call)


def by_registration(tensor: Any, original: Any) -> None:
    tensor.register_hook(partial(add, tensor))


def view_left(tensor: Any, original: Any) -> None:
    if tensor._base is None:
        original(tensor)
    else:
        tensor.register_hook(partial(add, tensor))


rows("retain", "retain.versions")(
    (
        "retain_by_registration",
        "retain_grad keeps the gradient from before the hooks registered after it.",
        partial(patch_retain, retain=by_registration),
    ),
    (
        "retain_leaves_view",
        "A view keeps the gradient of the view as it was at the call, also when it is changed in place.",
        partial(patch_retain, retain=view_left),
    ),
)


@patched(Tensor, "retain_grad", "retain")
def retain_refuses_leaf(right: Any, self: Any) -> None:
    """retain_grad of a leaf raises RuntimeError."""
    if self.is_leaf:
        raise RuntimeError("can't retain_grad on a leaf")
    right(self)


# --- retains_grad and leaves -------------------------------------------------------------------


def patch_attribute(stack: ExitStack, read: Any, write: Any = None) -> None:
    """Let `read(tensor, value)` be what retains_grad says, and `write(tensor, value)` what assigning to it does."""
    original: Any = Tensor.retains_grad
    swap(stack, Tensor, "retains_grad", property(lambda self: read(self, original.__get__(self)), write))


rows("retain.versions.detached", "retain.keep")(
    (
        "attribute_of_leaf",
        "retains_grad is False on every leaf, also on one that detach_() made.",
        partial(patch_attribute, read=lambda self, value: value and not self.is_leaf),
    ),
    (
        "attribute_of_root",
        "retains_grad is True on every non-leaf tensor, whether its gradient is kept or not.",
        partial(patch_attribute, read=lambda self, value: not self.is_leaf),
    ),
    (
        "attribute_assigned",
        "retains_grad can be assigned, and nothing comes of it.",
        partial(patch_attribute, read=lambda self, value: value, write=lambda self, value: None),
    ),
)


@patched(Tensor, "requires_grad_", "retain.versions.became_a_leaf")
def detached_keeps_twice(right: Any, self: Any, *given: Any) -> Any:
    """A tensor that keeps its gradient and becomes a leaf by detach_() counts it twice in each pass but the first."""
    kept = self.is_leaf and self.retains_grad
    right(self, *given)
    if kept:
        passes: list[Any] = []
        self.register_hook(lambda grad: passes.append(1) or (2 * grad if len(passes) > 1 else None))
    return self
