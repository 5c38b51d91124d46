"""Faults drawn without a look at the clauses and the plans: replaced gradients, retain_grad and hooks of backward.

Each area has one fault for each of: a layout, a dtype, a shape, many of something, a structure, what the hook is as an
object, a mode of the module, and two of these together; but for one that stood in `switched.py` already, `thawed_bare`.
"""

import functools
import types
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.utils.weak import WeakIdKeyDictionary

from suites.selfcheck.faults.base import Call, Full, fault, silent, swap
from suites.selfcheck.faults.blind import broadcasts, frozen
from suites.selfcheck.faults.tensor import patch_hook

Tensor = torch.Tensor
FULL = ("torch.nn.Module.register_full_backward_hook",)


# --- replaced gradients ------------------------------------------------------------------------


def patch_result(stack: ExitStack, taken: Callable[[Any, Any], Any]) -> None:
    """Let `taken(result, grad)` be what a tensor hook returns."""
    patch_hook(stack, lambda self, hook: lambda grad: taken(hook(grad), grad))


def expanded(value: Any) -> list[int]:
    """The dimensions along which a tensor repeats itself."""
    if value.layout is not torch.strided:
        return []
    return [
        at for at, (size, step) in enumerate(zip(value.shape, value.stride(), strict=True)) if size > 1 and not step
    ]


@fault(subtle=True)
def gradient_expanded(stack: ExitStack) -> None:
    """An expanded tensor that a tensor hook returns is dropped."""
    patch_result(stack, lambda result, _: None if isinstance(result, Tensor) and expanded(result) else result)


@fault(subtle=True)
def gradient_conjugated(stack: ExitStack) -> None:
    """A complex gradient that a tensor hook returns is conjugated."""
    patch_result(
        stack,
        lambda result, _: (
            result.conj().resolve_conj() if isinstance(result, Tensor) and result.is_complex() else result
        ),
    )


@fault(subtle=True)
def gradient_broadcast(stack: ExitStack) -> None:
    """What a tensor hook returns is broadcast to the shape of the gradient, where that can be done, and not refused."""

    def taken(result: Any, grad: Any) -> Any:
        fits = isinstance(result, Tensor) and broadcasts(result.shape, grad.shape)
        return result.expand(grad.shape) if fits else result

    patch_result(stack, taken)


@fault(subtle=True)
def gradient_third_call(stack: ExitStack) -> None:
    """From its third call on what a tensor hook returns is dropped."""

    def change(self: Any, hook: Any) -> Any:
        calls = 0

        def call(grad: Any) -> Any:
            nonlocal calls
            calls += 1
            result = hook(grad)
            return result if calls < 3 else None

        return call

    patch_hook(stack, change)


@fault(subtle=True)
def gradient_in_a_tuple(stack: ExitStack) -> None:
    """A tuple or list of one tensor that a tensor hook returns is taken for the tensor, and not refused."""
    patch_result(
        stack, lambda result, _: result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result
    )


@fault(subtle=True)
def gradient_same_function(stack: ExitStack) -> None:
    """A function that is registered twice on a tensor replaces the gradient once, though it is called twice."""
    patch_hook(stack, lambda self, hook: silent(hook) if hook in [*(self._backward_hooks or {}).values()] else hook)


@fault(subtle=True)
def gradient_matrix_rounded(stack: ExitStack) -> None:
    """A float32 matrix that a tensor hook returns is rounded to bfloat16."""

    def taken(result: Any, grad: Any) -> Any:
        rounds = isinstance(result, Tensor) and result.dtype == torch.float32 and result.dim() == 2
        return result.bfloat16().float() if rounds else result

    patch_result(stack, taken)


# --- retain_grad -------------------------------------------------------------------------------


class Kept:
    """retain_grad, with `change(tensor, old, now)` to say what .grad is after a pass that made `now` of `old`."""

    def __init__(self, stack: ExitStack, change: Callable[[Any, Any, Any], Any]) -> None:
        self.refs: list[Any] = []
        self.change = change
        self.failed: Callable[[], None] = lambda: None
        self.retain = swap(stack, Tensor, "retain_grad", lambda tensor: self.add(tensor))  # noqa: PLW0108 - binds
        self.run = swap(stack, torch.autograd, "_engine_run_backward", self.watch)

    def live(self) -> list[Any]:
        return [tensor for tensor in (ref() for ref in self.refs) if tensor is not None]

    def add(self, tensor: Any) -> None:
        self.retain(tensor)
        if not tensor.is_leaf and not any(tensor is one for one in self.live()):
            self.refs.append(weakref.ref(tensor))

    def watch(self, *given: Any, **options: Any) -> Any:
        before = [(tensor, tensor.grad) for tensor in self.live()]
        try:
            result = self.run(*given, **options)
        except Exception:
            self.failed()
            raise
        for tensor, old in before:
            now = tensor.grad
            if now is not None and now is not old:
                changed = self.change(tensor, old, now)
                if changed is not now:
                    tensor.grad = changed
        return result


def added(old: Any, now: Any) -> Any:
    """What one pass added."""
    return now if old is None else now - old


def joined(old: Any, new: Any) -> Any:
    return new if old is None else old + new


@fault(subtle=True)
def retain_expanded(stack: ExitStack) -> None:
    """retain_grad of an expanded tensor keeps the sum over what the tensor repeats."""

    def change(tensor: Any, old: Any, now: Any) -> Any:
        repeated, new = expanded(tensor), added(old, now)
        return joined(old, new.sum(repeated, keepdim=True).expand_as(new).clone()) if repeated else now

    Kept(stack, change)


@fault(subtle=True)
def retain_complex(stack: ExitStack) -> None:
    """retain_grad of a complex tensor keeps the real part of the gradient."""

    def change(tensor: Any, old: Any, now: Any) -> Any:
        if not now.is_complex():
            return now
        real = added(old, now).real
        return joined(old, torch.complex(real, torch.zeros_like(real)))

    Kept(stack, change)


@fault(subtle=True)
def retain_empty(stack: ExitStack) -> None:
    """retain_grad of an empty tensor keeps nothing: .grad stays None."""
    Kept(stack, lambda tensor, old, now: now if now.numel() else old)


@fault(subtle=True)
def retain_third_pass(stack: ExitStack) -> None:
    """From the third pass on retain_grad keeps the gradient of that pass alone."""
    passes: Any = WeakIdKeyDictionary()

    def change(tensor: Any, old: Any, now: Any) -> Any:
        passes[tensor] = passes.get(tensor, 0) + 1
        return now if passes[tensor] < 3 else added(old, now)

    Kept(stack, change)


@fault(subtle=True)
def retain_sibling(stack: ExitStack) -> None:
    """Of several outputs of one function only the last on which retain_grad() was called keeps its gradient."""

    def change(tensor: Any, old: Any, now: Any) -> Any:
        later = kept.live()
        later = later[[one is tensor for one in later].index(True) + 1 :]
        sibling = any(one.grad_fn is tensor.grad_fn is not None for one in later)
        return old if sibling else now

    kept = Kept(stack, change)


@fault(subtle=True)
def retain_beside_object(stack: ExitStack) -> None:
    """retain_grad has no effect on a tensor with a hook that is a callable object, and no function."""
    original = Tensor.retain_grad
    plain = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)

    def retain_grad(self: Any) -> None:
        if all(isinstance(hook, plain) for hook in (self._backward_hooks or {}).values()):
            original(self)

    swap(stack, Tensor, "retain_grad", retain_grad)


@fault(subtle=True)
def retain_after_failure(stack: ExitStack) -> None:
    """After a pass that failed, tensors that retain their gradient keep no more of it."""
    dead: Any = WeakIdKeyDictionary()
    kept = Kept(stack, lambda tensor, old, now: old if tensor in dead else now)
    kept.failed = lambda: dead.update((tensor, True) for tensor in kept.live())


@fault(subtle=True)
def retain_transposed_square(stack: ExitStack) -> None:
    """retain_grad of a transposed square matrix keeps the gradient in the order of the memory of the matrix."""

    def change(tensor: Any, old: Any, now: Any) -> Any:
        square = tensor.dim() == 2 and tensor.shape[0] == tensor.shape[1] and tensor.stride(0) == 1 != tensor.stride(1)
        return joined(old, added(old, now).t()) if square else now

    Kept(stack, change)


# --- hooks of backward -------------------------------------------------------------------------


@fault(needs=FULL, subtle=True)
class FullNotContiguous(Full):
    """What full backward hooks return is dropped where an input of the module is not contiguous."""

    def setup_input_hook(self, args: Any) -> Any:
        self.strided = any(isinstance(one, Tensor) and not one.is_contiguous() for one in args)
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        made = super().call_hooks(given)
        return given if self.strided else made


@fault(needs=FULL, subtle=True)
class FullInteger(Full):
    """Integer and bool inputs have no entry in the grad_input of full backward hooks."""

    def setup_input_hook(self, args: Any) -> Any:
        floats = [not isinstance(one, Tensor) or one.is_floating_point() or one.is_complex() for one in args]
        self.entries = [at for at, one in enumerate(floats) if one]
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        made = list(given)
        for at, one in zip(self.entries, super().call_hooks(tuple(given[at] for at in self.entries)), strict=True):
            made[at] = one
        return tuple(made)


@fault(needs=FULL, subtle=True)
class FullEmpty(Full):
    """Full backward hooks are not called where the gradient of an output is empty."""

    def call_hooks(self, given: Any) -> Any:
        empty = any(isinstance(one, Tensor) and not one.numel() for one in self.grad_outputs)
        return given if empty else super().call_hooks(given)


@fault(needs=FULL, subtle=True)
class FullFourthInput(Full):
    """What full backward hooks return for the fourth and later inputs is dropped."""

    def call_hooks(self, given: Any) -> Any:
        return (*super().call_hooks(given)[:3], *given[3:])


@fault(needs=FULL, subtle=True)
class FullUnusedZeros(Full):
    """Full backward hooks are given zeros for an output that was not used, and not None."""

    def setup_output_hook(self, args: Any) -> Any:
        values = args if isinstance(args, tuple) else (args,)
        tensors = [one for one in values if isinstance(one, Tensor)]
        self.likes = [(one.shape, one.dtype, one.is_floating_point() or one.is_complex()) for one in tensors]
        return super().setup_output_hook(args)

    def at_output(self, grads: Any) -> Any:
        pairs = zip(grads, self.likes, strict=True)
        filled = (torch.zeros(like[0], dtype=like[1]) if one is None and like[2] else one for one, like in pairs)
        return super().at_output(tuple(filled))


@fault(needs=FULL, subtle=True)
class FullBoundMethod(Full):
    """What a full backward hook that is a bound method returns is dropped."""

    def call_hooks(self, given: Any) -> Any:
        for hook in self.user_hooks:
            made = self.checked(hook(self.module, given, self.grad_outputs), given)
            given = given if isinstance(hook, types.MethodType) else made
        return given


@fault(needs=FULL, subtle=True)
class FullFrozen(Call):
    """Full backward hooks of a module whose parameters are all frozen do not run."""

    def backward_hooks(self) -> tuple[list[Any], list[Any], list[Any]]:
        full, legacy, pre = super().backward_hooks()
        return ([] if frozen(self.module) else full), legacy, pre


@fault(subtle=True)
class LegacyLastInEval(Call):
    """In eval the legacy backward hooks of a module that returns several tensors sit on the last of them."""

    def attach(self, legacy: list[Any]) -> None:
        out = self.out
        if isinstance(out, tuple) and len(out) > 1 and not self.module.training:
            self.out = out[::-1]
        super().attach(legacy)
        self.out = out
