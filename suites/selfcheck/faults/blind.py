"""Faults drawn without a look at the clauses and the plans: order of hooks, what replaces something, retain_grad.

Each area had one fault for each of: a layout, a dtype, a shape, many of something, a structure, what the hook is as an
object, a mode of the module, and two of these together. Those that plans of the whole grammar show are gone.
"""

import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Entries, Full, fault, instead, part, reorder, rows, swap
from suites.selfcheck.faults.tensor import newest_first, patch_handle, patch_result

Tensor = torch.Tensor
FULL = "torch.nn.Module.register_full_backward_hook"
POST = "_forward_hooks"


def both(new: Any, old: Any) -> bool:
    return isinstance(new, Tensor) and isinstance(old, Tensor)


def empty(one: Any) -> bool:
    return isinstance(one, Tensor) and not one.numel()


def whole(one: Any) -> bool:
    """Whether this is a tensor of integers or bools."""
    return isinstance(one, Tensor) and not one.is_floating_point() and not one.is_complex()


def broadcasts(shape: Any, target: Any) -> bool:
    """Whether a tensor of this shape can be expanded to another shape."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return shape != target and len(shape) <= len(target) and all(one in (1, other) for one, other in pairs)


def fits(new: Any, old: Any) -> bool:
    return both(new, old) and broadcasts(new.shape, old.shape)


def expanded(value: Any) -> list[int]:
    """The dimensions along which a tensor repeats itself."""
    if not isinstance(value, Tensor) or value.layout is not torch.strided:
        return []
    return [
        at for at, (size, step) in enumerate(zip(value.shape, value.stride(), strict=True)) if size > 1 and not step
    ]


# --- order of hooks ----------------------------------------------------------------------------


def not_contiguous_first(tensor: Any, handle: Any) -> None:
    if not tensor.is_contiguous():
        newest_first(tensor._backward_hooks)


rows()(
    (
        "order_not_contiguous",
        "Hooks of a tensor that is not contiguous run newest first.",
        partial(patch_handle, change=not_contiguous_first),
    ),
)


@instead(Call, "entries")
def OrderHalf(call: Call, right: Any, store: str) -> Entries:
    """In a call with a float16 or bfloat16 argument the own forward pre-hooks of the module run newest first."""
    half = any(isinstance(one, Tensor) and one.dtype in (torch.float16, torch.bfloat16) for one in call.args)
    if store == "_forward_pre_hooks" and half:
        return [*call.everywhere(store).items(), *reversed(call.own(store).items())]
    return right(store)


@instead(Call, "entries")
def OrderEmptyOutput(call: Call, right: Any, store: str) -> Entries:
    """Where the output is an empty tensor, global forward hooks run after those of the module."""
    if store == POST and empty(call.out):
        return [*call.own(store).items(), *call.everywhere(store).items()]
    return right(store)


@instead(Call, "rescue")
def OrderAfterFailure(call: Call, right: Any) -> None:
    """After a call that failed, forward hooks with always_call run after the others of the module."""
    right()
    hooks, always = call.own(POST), call.own("_forward_hooks_always_called")
    reorder(hooks, sorted(hooks, key=lambda key: key in always))


# --- replaced inputs and outputs ---------------------------------------------------------------


def inputs(taken: Callable[[Call, Any, Any], Any]) -> Any:
    """`taken(call, new, old)` is what becomes of a positional input that a pre-hook returned for another."""

    def settle(call: Call, right: Any, result: Any) -> None:
        before = call.args
        right(result)
        if call.args is before or not (isinstance(call.args, tuple) and isinstance(before, tuple)):
            return
        padded = [*before, *call.args[len(before) :]]
        made = tuple(taken(call, new, old) for new, old in zip(call.args, padded, strict=False))
        if any(one is not other for one, other in zip(made, call.args, strict=True)):
            call.args = made

    return part(Call, replace_args=settle, replace_both=settle)


def output(taken: Callable[[Call, Any], Any]) -> Any:
    """`taken(call, result)` is what a forward hook returns in place of a result."""
    return part(Call, replace_out=lambda call, right, result: right(taken(call, result)))


def in_memory_order(call: Call, new: Any, old: Any) -> Any:
    if isinstance(new, Tensor) and new.dim() == 2 and not new.is_contiguous() and new.t().is_contiguous():
        return new.as_strided(new.shape, (new.shape[1], 1))
    return new


def from_start(call: Call, result: Any) -> Any:
    slice_of = isinstance(result, Tensor) and result.layout is torch.strided and result.storage_offset()
    return result.as_strided(result.shape, result.stride(), 0) if slice_of else result


def first_two_of_list(call: Call, result: Any) -> Any:
    lists = type(result) is list and type(call.out) is list and result is not call.out
    if not lists or min(len(result), len(call.out)) < 3:
        return result
    return [*result[:2], *call.out[2 : len(result)], *result[len(call.out) :]]


def merged(call: Call, result: Any) -> Any:
    if type(result) in (dict, OrderedDict) and isinstance(call.out, dict) and not result.keys() >= call.out.keys():
        return type(result)({**call.out, **result})
    return result


rows()(
    (
        "InputInMemoryOrder",
        "A transposed matrix that a forward pre-hook returns is read in the order of its memory.",
        inputs(in_memory_order),
    ),
    (
        "InputBroadcast",
        "What a forward pre-hook returns is broadcast to the shape of the input that it replaces.",
        inputs(lambda call, new, old: new.expand(old.shape) if fits(new, old) else new),
    ),
    (
        "InputCast",
        "What a forward pre-hook returns is cast to the dtype of the input that it replaces.",
        inputs(lambda call, new, old: new.to(old.dtype) if both(new, old) else new),
    ),
    (
        "InputEmptyInEval",
        "In eval an empty tensor that a forward pre-hook returns is ignored.",
        inputs(lambda call, new, old: old if empty(new) and not call.module.training else new),
    ),
    (
        "OutputSliceFromStart",
        "A slice that a forward hook returns is read from its memory's start.",
        output(from_start),
    ),
    (
        "OutputInteger",
        "An integer or bool tensor that a forward hook returns is dropped.",
        output(lambda call, result: None if whole(result) else result),
    ),
    (
        "OutputDictMerged",
        "A dict that a forward hook returns for a dict is merged into it: what the hook left out stays.",
        output(merged),
    ),
    (
        "OutputThirdOfList",
        "Of a list that a forward hook returns for a list the third and later entries are those of before.",
        output(first_two_of_list),
    ),
)


@instead(Call, "replace_both")
def InputThirdKeyword(call: Call, right: Any, result: Any) -> None:
    """The third and later keywords that a forward pre-hook returns keep what the caller passed."""
    right(result)
    late = [*call.kwargs][2:] if isinstance(call.kwargs, dict) else []
    kept = {name: call.first_kwargs[name] for name in late if name in call.first_kwargs}
    if any(call.kwargs[name] is not value for name, value in kept.items()):
        call.kwargs = {**call.kwargs, **kept}


# --- replaced gradients ------------------------------------------------------------------------

rows()(
    (
        "gradient_expanded",
        "An expanded tensor that a tensor hook returns is dropped.",
        partial(patch_result, taken=lambda result, grad: None if expanded(result) else result),
    ),
    (
        "gradient_broadcast",
        "What a tensor hook returns is broadcast to the shape of the gradient, where that can be done.",
        partial(patch_result, taken=lambda result, grad: result.expand(grad.shape) if fits(result, grad) else result),
    ),
    (
        "gradient_in_a_tuple",
        "A tuple or list of one tensor that a tensor hook returns is taken for the tensor, and not refused.",
        partial(
            patch_result,
            taken=lambda result, grad: result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result,
        ),
    ),
)


# --- retain_grad -------------------------------------------------------------------------------


class Kept:
    """retain_grad, with `change(tensor, old, now)` to say what .grad is after a pass that made `now` of `old`."""

    def __init__(self, stack: ExitStack, change: Callable[[Any, Any, Any], Any]) -> None:
        self.refs: list[Any] = []
        self.change = change
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
        result = self.run(*given, **options)
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


# --- hooks of backward -------------------------------------------------------------------------


@fault(needs=FULL, subtle=True)
class FullInteger(Full):
    """Integer and bool inputs have no entry in the grad_input of full backward hooks."""

    def setup_input_hook(self, args: Any) -> Any:
        self.entries = [at for at, one in enumerate(args) if not whole(one)]
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        made = list(given)
        for at, one in zip(self.entries, super().call_hooks(tuple(given[at] for at in self.entries)), strict=True):
            made[at] = one
        return tuple(made)


@fault(needs=FULL, subtle=True)
class FullNotContiguous(Full):
    """What full backward hooks return is dropped where an input of the module is not contiguous."""

    def setup_input_hook(self, args: Any) -> Any:
        self.strided = any(isinstance(one, Tensor) and not one.is_contiguous() for one in args)
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        made = super().call_hooks(given)
        return given if self.strided else made


@instead(Full, "call_hooks", needs=FULL)
def FullEmpty(full: Full, right: Any, given: Any) -> Any:
    """Full backward hooks are not called where the gradient of an output is empty."""
    return given if any(empty(one) for one in full.grad_outputs) else right(given)


@instead(Full, "call_hooks", needs=FULL)
def FullBoundMethod(full: Full, right: Any, given: Any) -> Any:
    """What a full backward hook that is a bound method returns is dropped."""
    for hook in full.user_hooks:
        made = full.checked(hook(full.module, given, full.grad_outputs), given)
        given = given if isinstance(hook, types.MethodType) else made
    return given


@instead(Full, "call_hooks", needs=FULL)
def FullFourthInput(full: Full, right: Any, given: Any) -> Any:
    """What full backward hooks return for the fourth and later inputs is dropped."""
    return (*right(given)[:3], *given[3:])


@instead(Call, "attach")
def LegacyLastInEval(call: Call, right: Any, legacy: list[Any]) -> None:
    """In eval the legacy backward hooks of a module that returns several tensors sit on the last of them."""
    out = call.out
    if isinstance(out, tuple) and len(out) > 1 and not call.module.training:
        call.out = out[::-1]
    right(legacy)
    call.out = out
