"""Faults that show after something was switched: eval mode, frozen leaves, a pass that failed, a block left early."""

import functools
from contextlib import ExitStack
from typing import Any, ClassVar

import torch
from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import Call, Entries, Full, fault, swap
from suites.selfcheck.faults.node import patch_node
from suites.selfcheck.faults.tensor import POST, Tensor, patch_hook

FULL = ("torch.nn.Module.register_full_backward_hook",)


@fault("output.switched", subtle=True)
class EvalRunsNoHooks(Call):
    """In eval mode forward hooks and pre-hooks of a module are left out."""

    def entries(self, store: str) -> Entries:
        return super().entries(store) if self.module.training else []


@fault("backward.switched", needs=FULL, subtle=True)
class EvalUnwrapped(Call):
    """In eval mode a module has no full backward hooks called."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        return super().wrapper(full, pre) if self.module.training else None


@fault("backward.switched", subtle=True)
class EvalLegacyOnce(Call):
    """In eval mode only the first legacy backward hook is attached."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach(legacy if self.module.training else legacy[:1])


@fault("backward.switched", needs=FULL, subtle=True)
class FrozenSilent(Full):
    """Full backward hooks of a module with a frozen parameter are not called."""

    def call_hooks(self, given: Any) -> Any:
        frozen = any(not one.requires_grad for one in self.module.parameters())
        return given if frozen else super().call_hooks(given)


@fault("output.switched", subtle=True)
def eval_clears(stack: ExitStack) -> None:
    """train() and eval() clear the forward hooks that were registered before."""
    original = Module.train

    def train(self: Any, mode: bool = True) -> Any:
        self._forward_hooks.clear()
        return original(self, mode)

    swap(stack, Module, "train", train)


@fault("gradient.switched", subtle=True)
def thawed_bare(stack: ExitStack) -> None:
    """A leaf that is frozen loses its tensor hooks."""
    original = Tensor.requires_grad_

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        if not requires_grad and self._backward_hooks:
            self._backward_hooks.clear()
        return original(self, requires_grad)

    swap(stack, Tensor, "requires_grad_", requires_grad_)


@fault("gradient.switched", subtle=True)
def thawed_zero(stack: ExitStack) -> None:
    """A leaf that is frozen loses its .grad."""
    original = Tensor.requires_grad_

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        if not requires_grad:
            self.grad = None
        return original(self, requires_grad)

    swap(stack, Tensor, "requires_grad_", requires_grad_)


@fault("gradient.switched", subtle=True)
def frozen_not_called(stack: ExitStack) -> None:
    """The hooks of a leaf that was frozen after it was used are not called."""
    patch_hook(stack, lambda self, hook: lambda grad: hook(grad) if self.requires_grad or not self.is_leaf else None)


def mute(hook: Any) -> Any:
    """A hook that is not called again once it has raised."""
    failed: list[int] = []

    @functools.wraps(hook)
    def call(*given: Any) -> Any:
        if failed:
            return None
        try:
            return hook(*given)
        except Exception:
            failed.append(1)
            raise

    return call


@fault("gradient.switched", subtle=True)
def raised_is_out(stack: ExitStack) -> None:
    """A tensor hook that raised once is not called again."""
    patch_hook(stack, lambda self, hook: mute(hook))


@fault("gradient.switched", needs=POST, subtle=True)
def post_raised_is_out(stack: ExitStack) -> None:
    """A post-accumulate hook that raised once is not called again."""
    patch_hook(stack, lambda self, hook: mute(hook), POST[0].split(".")[-1])


@fault("gradient.switched", subtle=True)
def node_raised_is_out(stack: ExitStack) -> None:
    """A hook of a node that raised once is not called again."""
    patch_node(stack, lambda register, hook: register(mute(hook)))


@fault("output.switched", subtle=True)
class FailedCallSticks(Call):
    """After a call that failed a module runs no pre-hooks in its next call."""

    failed: ClassVar[set[int]] = set()

    def entries(self, store: str) -> Entries:
        return [] if store == "_forward_pre_hooks" and id(self.module) in self.failed else super().entries(store)

    def run(self) -> Any:
        try:
            out = super().run()
        except Exception:
            self.failed.add(id(self.module))
            raise
        self.failed.discard(id(self.module))
        return out


@fault("handles.switched", subtle=True)
def block_keeps_on_error(stack: ExitStack) -> None:
    """A with block on a handle that an exception leaves does not remove the hook."""
    original = RemovableHandle.__exit__

    def leave(self: Any, kind: Any, *rest: Any) -> None:
        if kind is None:
            original(self, kind, *rest)

    swap(stack, RemovableHandle, "__exit__", leave)


@fault("handles.switched", subtle=True)
def block_swallows(stack: ExitStack) -> None:
    """A with block on a handle swallows the exception that leaves it."""
    original = RemovableHandle.__exit__

    def leave(self: Any, *given: Any) -> bool:
        original(self, *given)
        return True

    swap(stack, RemovableHandle, "__exit__", leave)


@fault("retain", subtle=True)
def retain_ends_with_failure(stack: ExitStack) -> None:
    """A pass that fails ends what retain_grad() asked for: the tensor has lost its gradient after it."""
    original = torch.autograd.backward
    kept: list[Any] = []
    stack.callback(kept.clear)
    retain = Tensor.retain_grad

    def retain_grad(self: Any) -> None:
        retain(self)
        kept.append(self)

    def backward(*given: Any, **options: Any) -> Any:
        try:
            return original(*given, **options)
        except Exception:
            for tensor in kept:
                tensor.grad = None
            raise

    swap(stack, Tensor, "retain_grad", retain_grad)
    swap(stack, torch.autograd, "backward", backward)
