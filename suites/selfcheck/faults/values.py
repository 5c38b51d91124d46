"""Faults that show only with tensors of some shape, dtype or layout, or by which object a tensor is."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Full, fault, swap
from suites.selfcheck.faults.tensor import POST, patch_hook

FULL = ("torch.nn.Module.register_full_backward_hook",)
PRE = ("torch.nn.Module.register_full_backward_pre_hook",)
Tensor = torch.Tensor


def changed(result: Any, change: Callable[[Any], Any]) -> Any:
    """What a hook returns, or is given, with every tensor right in it changed."""
    if isinstance(result, Tensor):
        return change(result)
    return tuple(changed(one, change) for one in result) if type(result) is tuple else result


def by_rows(tensor: Any) -> Any:
    """The tensor, row by row in memory."""
    return tensor.contiguous()


def full_precision(tensor: Any) -> bool:
    return tensor.dtype in (torch.float64, torch.float32, torch.complex128)


def patch_result(stack: ExitStack, keep: Callable[[Any, Any], bool]) -> None:
    """Drop what a tensor hook returns for a gradient, unless `keep(result, gradient)`."""

    def change(self: Any, hook: Any) -> Any:
        def kept(grad: Any) -> Any:
            result = hook(grad)
            return result if result is None or keep(result, grad) else None

        return kept

    patch_hook(stack, change)


# --- the hooks of tensors ----------------------------------------------------------------------


@fault("gradient.values", subtle=True)
def half_result_dropped(stack: ExitStack) -> None:
    """What a tensor hook returns in half precision is dropped."""
    patch_result(stack, lambda result, _: not isinstance(result, Tensor) or full_precision(result))


@fault("gradient.values", subtle=True)
def column_result_dropped(stack: ExitStack) -> None:
    """What a tensor hook returns is dropped where it does not lie row by row."""
    patch_result(stack, lambda result, _: not isinstance(result, Tensor) or result.is_contiguous())


@fault("gradient.values", subtle=True)
def row_result_of_columns_dropped(stack: ExitStack) -> None:
    """What a tensor hook returns is dropped where the gradient that it was given does not lie row by row."""
    patch_result(stack, lambda _, grad: grad.is_contiguous())


@fault("gradient.values", subtle=True)
def empty_without_hooks(stack: ExitStack) -> None:
    """A hook of a tensor without elements is not called."""
    patch_hook(stack, lambda self, hook: hook if self.numel() else lambda grad: None)


@fault("gradient.values", subtle=True)
def given_by_rows(stack: ExitStack) -> None:
    """A tensor hook is given a copy of a gradient that does not lie row by row."""
    patch_hook(stack, lambda self, hook: lambda grad: hook(by_rows(grad)))


@fault("gradient.values", subtle=True)
def given_alias(stack: ExitStack) -> None:
    """A tensor hook is given another object than the gradient that the user gave."""
    patch_hook(stack, lambda self, hook: lambda grad: hook(grad.view_as(grad)))


@fault("gradient.values", subtle=True)
def scalar_result_spread(stack: ExitStack) -> None:
    """A tensor hook may return a gradient of another shape, which is broadcast."""

    def change(self: Any, hook: Any) -> Any:
        def spread(grad: Any) -> Any:
            result = hook(grad)
            return result.expand_as(grad) if isinstance(result, Tensor) and not result.dim() else result

        return spread

    patch_hook(stack, change)


@fault("gradient.values", needs=POST, subtle=True)
def post_of_rows_only(stack: ExitStack) -> None:
    """A post-accumulate hook is not called where .grad does not lie row by row."""

    def change(self: Any, hook: Any) -> Any:
        return lambda leaf: hook(leaf) if leaf.grad is None or leaf.grad.is_contiguous() else None

    patch_hook(stack, change, "register_post_accumulate_grad_hook")


@fault("retain.values", subtle=True)
def retains_full_precision(stack: ExitStack) -> None:
    """retain_grad does nothing for a tensor in half precision."""
    original = swap(stack, Tensor, "retain_grad", lambda self: original(self) if full_precision(self) else None)


@fault("retain.values", subtle=True)
def retains_matrices_of_rows(stack: ExitStack) -> None:
    """retain_grad does nothing for a tensor that does not lie row by row."""
    original = swap(stack, Tensor, "retain_grad", lambda self: original(self) if self.is_contiguous() else None)


# --- hooks around forward ----------------------------------------------------------------------


@fault("output.values", subtle=True)
class OutputByRows(Call):
    """What a forward hook returns is copied where it does not lie row by row."""

    def replace_out(self, result: Any) -> None:
        super().replace_out(changed(result, by_rows))


@fault("output.values", subtle=True)
class OutputKeepsDtype(Call):
    """What a forward hook returns is cast to the dtype of the output that it replaces."""

    def replace_out(self, result: Any) -> None:
        both = isinstance(result, Tensor) and isinstance(self.out, Tensor)
        super().replace_out(result.to(self.out.dtype) if both else result)


@fault("output.values", subtle=True)
class OutputKeepsShape(Call):
    """What a forward hook returns is dropped where its shape is not that of the output."""

    def replace_out(self, result: Any) -> None:
        both = isinstance(result, Tensor) and isinstance(self.out, Tensor)
        super().replace_out(None if both and result.shape != self.out.shape else result)


@fault("input.values", subtle=True)
class WholeNumbersStay(Call):
    """What a pre-hook returns is dropped where it holds a tensor of whole numbers."""

    def replace_args(self, result: Any) -> None:
        given = result if isinstance(result, tuple) else (result,)
        whole = any(isinstance(one, Tensor) and one.dtype == torch.int64 for one in given)
        super().replace_args(None if whole else result)


@fault("output.values", subtle=True)
class GivenAlias(Call):
    """A forward hook is given another object than what the module returned."""

    def ask(self, key: int, hook: Any) -> Any:
        kept, self.out = self.out, changed(self.out, lambda tensor: tensor.view_as(tensor))
        try:
            return super().ask(key, hook)
        finally:
            self.out = kept


# --- hooks of backward on modules --------------------------------------------------------------


def kept_where(result: Any, given: Any, lost: Callable[[Any], bool]) -> Any:
    """What a hook returns, less the tensors that are lost: what was given stays there."""
    if result is given or type(result) is not tuple or not any(isinstance(one, Tensor) and lost(one) for one in result):
        return result
    pairs = zip(result, given, strict=True)
    return tuple(old if isinstance(new, Tensor) and lost(new) else new for new, old in pairs)


@fault("backward.values", needs=FULL, subtle=True)
class HalfStays(Full):
    """What a full backward hook returns in half precision is dropped."""

    def checked(self, result: Any, given: Any) -> Any:
        return kept_where(super().checked(result, given), given, lambda one: not full_precision(one))


@fault("backward.values", needs=FULL, subtle=True)
class ColumnsStay(Full):
    """What a full backward hook returns is dropped where it does not lie row by row."""

    def checked(self, result: Any, given: Any) -> Any:
        return kept_where(super().checked(result, given), given, lambda one: not one.is_contiguous())


@fault("backward.values", needs=PRE, subtle=True)
class PreGivenByRows(Full):
    """Full backward pre-hooks are given copies of gradients that do not lie row by row."""

    def call_pre_hooks(self) -> None:
        self.grad_outputs = changed(self.grad_outputs, by_rows)
        super().call_pre_hooks()


@fault("backward.values", needs=FULL, subtle=True)
class EmptyIsNone(Full):
    """A full backward hook is given None for the gradient of an input without elements."""

    def call_hooks(self, given: Any) -> Any:
        for hook in self.user_hooks:
            empty = [isinstance(one, Tensor) and not one.numel() for one in given]
            shown = (
                tuple(None if lost else one for lost, one in zip(empty, given, strict=True)) if any(empty) else given
            )
            given = self.checked(hook(self.module, shown, self.grad_outputs), given)
        return given


@fault("backward.objects", needs=FULL, subtle=True)
class MatricesAreCopied(Full):
    """A module with a full backward hook is given copies of matrices, not views of them."""

    def setup_input_hook(self, args: Any) -> Any:
        given = super().setup_input_hook(args)
        return changed(given, lambda one: one.clone() if one.dim() == 2 else one)


@fault("backward.given", needs=FULL, subtle=True)
class UnusedMatrixGetsNone(Full):
    """A matrix that the outputs do not depend on gets None from a full backward hook, not zeros."""

    def at_input(self, grads: Any) -> Any:
        unused = [one is not None and one.dim() == 2 and not one.any() for one in grads]
        made = super().at_input(grads)
        return None if made is None else tuple(None if lost else one for lost, one in zip(unused, made, strict=True))
