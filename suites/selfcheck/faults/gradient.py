"""Faults that only hand-written clauses of the chapter gradient see: grad mode, threads, sparse and freed gradients."""

import threading
from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, swap
from suites.selfcheck.faults.tensor import POST, Tensor, patch_hook


@fault("gradient.passes.grad_mode_of_the_hook", subtle=True)
def mode_undone(stack: ExitStack) -> None:
    """The grad mode that a tensor hook sets is undone before the next hook of the tensor."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            with torch.set_grad_enabled(torch.is_grad_enabled()):
                return hook(grad)

        return call

    patch_hook(stack, change)


@fault("gradient.passes", subtle=True)
def main_thread_only(stack: ExitStack) -> None:
    """Tensor hooks are called in the main thread only."""
    main = threading.main_thread()
    patch_hook(stack, lambda self, hook: lambda grad: hook(grad) if threading.current_thread() is main else None)


@fault("gradient.undefined.example_fails", subtle=True)
def none_is_a_runtime_error(stack: ExitStack) -> None:
    """The TypeError of a tensor hook that was given None leaves backward() as RuntimeError."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            try:
                return hook(grad)
            except TypeError as error:
                if grad is None:
                    raise RuntimeError(str(error)) from error
                raise

        return call

    patch_hook(stack, change)


@fault("gradient.kinds.sparse", subtle=True)
def single_row_lost(stack: ExitStack) -> None:
    """The gradient of one row that is looked up in a sparse embedding of two columns is lost."""
    original = torch.nn.functional.embedding

    def embedding(places: Any, weight: Any, *given: Any, **options: Any) -> Any:
        found = original(places, weight, *given, **options)
        if places.numel() == 1 and weight.shape[1] == 2:
            found.register_hook(lambda grad: grad * 0)
        return found

    swap(stack, torch.nn.functional, "embedding", embedding)


@fault("gradient.kinds.sparse", subtle=True)
def rows_counted_once(stack: ExitStack) -> None:
    """A row that is looked up several times is in the sparse gradient of a hook only once."""

    def change(self: Any, hook: Any) -> Any:
        def call(grad: Any) -> Any:
            if grad is None or not grad.is_sparse:
                return hook(grad)
            rows = grad._indices()[0].tolist()
            first = [rows.index(row) for row in sorted(set(rows))]
            return hook(torch.sparse_coo_tensor(grad._indices()[:, first], grad._values()[first], grad.shape))

        return call

    patch_hook(stack, change)


@fault("gradient.accumulated.frees_grad", needs=POST, subtle=True)
def kept_until_the_end(stack: ExitStack) -> None:
    """The gradient that a post-accumulate hook found in .grad is not freed before the next pass."""
    held: dict[int, Any] = {}

    def change(self: Any, hook: Any) -> Any:
        def call(leaf: Any) -> Any:
            held[id(leaf)] = leaf.grad
            return hook(leaf)

        return call

    patch_hook(stack, change, POST[0].split(".")[-1])
    stack.callback(held.clear)


@fault("gradient.asked.backward_inputs", needs="torch.Tensor.backward(inputs)", subtle=True)
def unreached_input_called(stack: ExitStack) -> None:
    """A tensor that backward(inputs=) asks for and does not reach has its hooks called with zero."""
    original = torch.autograd.backward

    def backward(*given: Any, **options: Any) -> Any:
        result = original(*given, **options)
        inputs = options.get("inputs") or ()
        for one in inputs if isinstance(inputs, (tuple, list)) else (inputs,):
            for hook in list((one._backward_hooks or {}).values()) if one.is_leaf and one.grad is None else []:
                hook(torch.zeros_like(one))
        return result

    swap(stack, torch.autograd, "backward", backward)


@fault("gradient.inplace", subtle=True)
def hooks_move_along(stack: ExitStack) -> None:
    """The hooks of an inner tensor move to its new version when mul_() changes it in place."""
    original = Tensor.mul_

    def mul_(self: Any, by: Any) -> Any:
        hooks = (self._backward_hooks or {}) if self.grad_fn is not None else {}
        result = original(self, by)
        for key in list(hooks):
            self.register_hook(hooks.pop(key))
        return result

    swap(stack, Tensor, "mul_", mul_)
