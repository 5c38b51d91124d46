"""Faults of retain_grad, and of backward as a whole."""

import functools
from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, reorder, silent, swap

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


@fault("retain", subtle=True)
def retain_by_registration(stack: ExitStack) -> None:
    """retain_grad keeps the gradient from before the hooks registered after it."""

    def retain(self: Any, original: Any) -> None:
        self.register_hook(lambda grad: add(self, grad))

    patch_retain(stack, retain)


@fault("retain", subtle=True)
def retain_before_hooks(stack: ExitStack) -> None:
    """retain_grad keeps the gradient from before all hooks of the tensor."""

    def retain(self: Any, original: Any) -> None:
        handle = self.register_hook(lambda grad: add(self, grad))
        reorder(self._backward_hooks, [handle.id, *(key for key in self._backward_hooks if key != handle.id)])

    patch_retain(stack, retain)


@fault("retain")
def retain_ignored(stack: ExitStack) -> None:
    """retain_grad has no effect."""
    patch_retain(stack, lambda self, original: None)


@fault("retain", subtle=True)
def retain_overwrites(stack: ExitStack) -> None:
    """In a second backward the kept gradient is replaced, not added to."""
    kept: list[Any] = []
    stack.callback(kept.clear)
    patch_retain(stack, lambda self, original: silent(kept.append, original)(self))
    backward = torch.autograd.backward

    def fresh(*given: Any, **options: Any) -> Any:
        for tensor in kept:
            tensor.grad = None
        return backward(*given, **options)

    swap(stack, torch.autograd, "backward", fresh)


@fault("retain", subtle=True)
def retain_once(stack: ExitStack) -> None:
    """Only the first backward keeps a gradient."""

    def retain(self: Any, original: Any) -> None:
        done: list[Any] = []

        def keep(grad: Any) -> None:
            if not done:
                done.append(1)
                add(self, grad)

        self.register_hook(keep)

    patch_retain(stack, retain)


@fault("retain", subtle=True)
def retain_twice_doubles(stack: ExitStack) -> None:
    """retain_grad called a second time on a tensor doubles what is kept."""
    original = Tensor.retain_grad

    def retain_grad(self: Any) -> None:
        if not self.is_leaf and self.retains_grad:
            self.register_hook(lambda grad: add(self, grad))
        original(self)

    swap(stack, Tensor, "retain_grad", retain_grad)


@fault("retain", subtle=True)
def retain_needs_hookless(stack: ExitStack) -> None:
    """retain_grad has no effect on a tensor that has hooks already."""
    patch_retain(stack, lambda self, original: None if self._backward_hooks else original(self))


@fault("retain", subtle=True)
def retain_stops_hooks(stack: ExitStack) -> None:
    """Hooks registered after retain_grad on the same tensor are not called."""
    register = Tensor.register_hook
    swap(
        stack,
        Tensor,
        "register_hook",
        lambda self, hook: register(self, (lambda grad: None) if not self.is_leaf and self.retains_grad else hook),
    )


@fault("retain", subtle=True)
def retain_frozen_accepted(stack: ExitStack) -> None:
    """retain_grad of a tensor that does not require grad does nothing."""
    original = Tensor.retain_grad
    swap(stack, Tensor, "retain_grad", lambda self: original(self) if self.requires_grad else None)


@fault("retain", subtle=True)
def retain_refuses_leaf(stack: ExitStack) -> None:
    """retain_grad of a leaf raises RuntimeError."""
    original = Tensor.retain_grad

    def retain_grad(self: Any) -> None:
        if self.is_leaf:
            raise RuntimeError("can't retain_grad on a leaf")
        original(self)

    swap(stack, Tensor, "retain_grad", retain_grad)


@fault("retain.keep.own_memory", subtle=True)
def retain_shares_memory(stack: ExitStack) -> None:
    """The kept gradient is the tensor that the hooks were given, not a copy of it."""

    def retain(self: Any, original: Any) -> None:
        def keep(grad: Any) -> None:
            self.grad = grad if self.grad is None or grad is None else self.grad + grad

        self.register_hook(keep)

    patch_retain(stack, retain)


@fault("retain.versions.view_changed", "retain.versions.base_of_kept_view", subtle=True)
def retain_leaves_view(stack: ExitStack) -> None:
    """A view keeps the gradient of the view as it was at the call, also when it is changed in place."""

    def retain(self: Any, original: Any) -> None:
        if self._base is None:
            original(self)
        else:
            self.register_hook(lambda grad: add(self, grad))

    patch_retain(stack, retain)


# --- retains_grad and leaves -------------------------------------------------------------------


def patch_attribute(stack: ExitStack, read: Any, write: Any = None) -> None:
    """Let `read(tensor, value)` be what retains_grad says, and `write(tensor, value)` what assigning to it does."""
    original: Any = Tensor.retains_grad
    swap(stack, Tensor, "retains_grad", property(lambda self: read(self, original.__get__(self)), write))


@fault("retain.versions.detached", subtle=True)
def attribute_of_leaf(stack: ExitStack) -> None:
    """retains_grad is False on every leaf, also on one that detach_() made."""
    patch_attribute(stack, lambda self, value: value and not self.is_leaf)


@fault("retain.keep.attribute", subtle=True)
def attribute_of_root(stack: ExitStack) -> None:
    """retains_grad is True on every inner tensor, whether its gradient is kept or not."""
    patch_attribute(stack, lambda self, value: not self.is_leaf)


@fault("retain.keep.attribute_is_read_only", subtle=True)
def attribute_assigned(stack: ExitStack) -> None:
    """retains_grad can be assigned, and nothing comes of it."""
    patch_attribute(stack, lambda self, value: value, lambda self, value: None)


@fault("retain.versions.became_a_leaf", subtle=True)
def detached_keeps_twice(stack: ExitStack) -> None:
    """A tensor that keeps its gradient and becomes a leaf by detach_() counts it twice in each pass but the first."""
    original = Tensor.requires_grad_

    def requires_grad_(self: Any, *given: Any) -> Any:
        kept = self.is_leaf and self.retains_grad
        original(self, *given)
        if kept:
            passes: list[Any] = []
            self.register_hook(lambda grad: passes.append(1) or (2 * grad if len(passes) > 1 else None))
        return self

    swap(stack, Tensor, "requires_grad_", requires_grad_)


# --- backward ----------------------------------------------------------------------------------


@fault("gradient", subtle=True)
def not_accumulated(stack: ExitStack) -> None:
    """A second backward replaces the gradients of the parameters it reaches instead of adding to them."""
    backward = torch.autograd.backward
    before = torch.nn.Parameter.__new__
    made: list[Any] = []
    stack.callback(made.clear)

    def new(cls: Any, *given: Any, **options: Any) -> Any:
        parameter = before(cls, *given, **options)
        made.append(parameter)
        return parameter

    def fresh(*given: Any, **options: Any) -> Any:
        for parameter in made:
            parameter.grad = None
        return backward(*given, **options)

    swap(stack, torch.nn.Parameter, "__new__", staticmethod(new))
    swap(stack, torch.autograd, "backward", fresh)


@fault("together", "gradient", subtle=True)
def roots_apart(stack: ExitStack) -> None:
    """Backward from several tensors runs from one after the other: hooks are called once for each."""
    backward = torch.autograd.backward

    def apart(tensors: Any, grad_tensors: Any = None, *given: Any, **options: Any) -> None:
        roots = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        if len(roots) < 2 or not isinstance(grad_tensors, (tuple, list)):
            return backward(tensors, grad_tensors, *given, **options)
        kept = options.get("retain_graph")
        for place, (root, grad) in enumerate(zip(roots, grad_tensors, strict=True)):
            options["retain_graph"] = True if place < len(roots) - 1 else kept
            backward([root], [grad], *given, **options)
        return None

    swap(stack, torch.autograd, "backward", apart)


@fault("together", "gradient", subtle=True)
def first_root_only(stack: ExitStack) -> None:
    """Backward from several tensors runs from the first one only."""
    backward = torch.autograd.backward

    def first(tensors: Any, grad_tensors: Any = None, *given: Any, **options: Any) -> None:
        if isinstance(tensors, (tuple, list)) and isinstance(grad_tensors, (tuple, list)):
            tensors, grad_tensors = list(tensors)[:1], list(grad_tensors)[:1]
        backward(tensors, grad_tensors, *given, **options)

    swap(stack, torch.autograd, "backward", first)


@fault("together", "gradient", subtle=True)
def graph_always_kept(stack: ExitStack) -> None:
    """retain_graph=False keeps the graph all the same: a second backward does not raise."""
    backward = torch.autograd.backward

    def keep(*given: Any, **options: Any) -> None:
        backward(*given[:2], **{**options, "retain_graph": True})

    swap(stack, torch.autograd, "backward", keep)


@fault("together", "gradient", subtle=True)
def backward_twice(stack: ExitStack) -> None:
    """A backward that keeps the graph runs twice."""
    backward = torch.autograd.backward

    def twice(*given: Any, **options: Any) -> None:
        if options.get("retain_graph"):
            backward(*given, **options)
        backward(*given, **options)

    swap(stack, torch.autograd, "backward", twice)


@fault("gradient.errors", "backward", subtle=True)
def backward_swallows(stack: ExitStack) -> None:
    """What a hook raises ends backward() without an error."""
    backward = torch.autograd.backward

    def quiet(*given: Any, **options: Any) -> None:
        try:
            backward(*given, **options)
        except RuntimeError:
            raise
        except Exception:  # noqa: BLE001 - that is the fault
            return

    swap(stack, torch.autograd, "backward", quiet)


@fault("gradient.errors", "backward", subtle=True)
def backward_renames(stack: ExitStack) -> None:
    """Whatever a hook raises leaves backward() as RuntimeError."""
    backward = torch.autograd.backward

    def rename(*given: Any, **options: Any) -> None:
        try:
            backward(*given, **options)
        except Exception as error:
            raise RuntimeError(str(error)) from error

    swap(stack, torch.autograd, "backward", rename)
