"""Faults of gradients that hooks change in place: the change is lost."""

from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import Full, fault
from suites.selfcheck.faults.node import PRE as NODE_PRE
from suites.selfcheck.faults.node import patch_node
from suites.selfcheck.faults.tensor import POST, patch_hook
from suites.selfcheck.faults.values import FULL, PRE, changed, full_precision


@fault("together.values", subtle=True)
def edit_of_half_lost(stack: ExitStack) -> None:
    """A tensor hook is given a copy of a gradient in half precision."""
    patch_hook(
        stack, lambda self, hook: lambda grad: hook(grad if grad is None or full_precision(grad) else grad.clone())
    )


@fault("together.values", subtle=True)
def edit_of_columns_lost(stack: ExitStack) -> None:
    """What a tensor hook changes in place in a gradient that does not lie row by row is put back."""

    def change(self: Any, hook: Any) -> Any:
        def kept(grad: Any) -> Any:
            if grad is None or grad.is_sparse or grad.is_contiguous():
                return hook(grad)
            before = grad.clone()
            result = hook(grad)
            if not torch.equal(grad, before):  # one number for all places takes no copy
                grad.copy_(before)
            return result

        return kept

    patch_hook(stack, change)


@fault("together.values", needs=POST, subtle=True)
def post_edit_lost(stack: ExitStack) -> None:
    """What a post-accumulate hook changes in place in .grad is put back, where there is more than one number."""

    def change(self: Any, hook: Any) -> Any:
        def kept(leaf: Any) -> Any:
            grad = leaf.grad
            if grad is None or grad.numel() < 2:
                return hook(leaf)
            before = grad.clone()
            hook(leaf)
            if leaf.grad is grad:
                grad.copy_(before)
            return None

        return kept

    patch_hook(stack, change, "register_post_accumulate_grad_hook")


@fault("together.node", needs=NODE_PRE, subtle=True)
def node_pre_edit_lost(stack: ExitStack) -> None:
    """A pre-hook of a node is given copies of several gradients."""

    def register(register: Any, hook: Any) -> Any:
        return register(lambda given: hook(changed(given, torch.clone) if len(given) > 1 else given))

    patch_node(stack, register, "register_prehook")


@fault("together.backward", needs=FULL, subtle=True)
class FullEditLost(Full):
    """A full backward hook is given copies of the gradients of several inputs."""

    def call_hooks(self, given: Any) -> Any:
        for hook in self.user_hooks:
            shown = changed(given, torch.clone) if len(given) > 1 else given
            given = self.checked(hook(self.module, shown, self.grad_outputs), given)
        return given


@fault("together.backward", needs=PRE, subtle=True)
class LastPreEditLost(Full):
    """The last of several full backward pre-hooks is given copies of the gradients."""

    def call_pre_hooks(self) -> None:
        *earlier, last = self.user_pre_hooks or [None]
        for hook in earlier:
            self.grad_outputs = self.checked(hook(self.module, self.grad_outputs), self.grad_outputs)
        if last is not None:
            shown = changed(self.grad_outputs, torch.clone) if earlier else self.grad_outputs
            self.grad_outputs = self.checked(last(self.module, shown), self.grad_outputs)
