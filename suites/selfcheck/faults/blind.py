"""Faults drawn without a look at the clauses and the plans: order of hooks, replaced inputs and replaced outputs.

Each area has one fault for each of: a layout, a dtype, a shape, many of something, a structure, what the hook is as an
object, a mode of the module, and two of these together.
"""

import functools
import weakref
from collections import OrderedDict
from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Entries, fault, reorder, swap
from suites.selfcheck.faults.tensor import newest_first, patch_handle

Tensor = torch.Tensor


def tensors(values: Any) -> list[Any]:
    return [one for one in values if isinstance(one, Tensor)]


def frozen(module: Any) -> bool:
    """Whether the module has parameters, and none that needs a gradient."""
    needs = [one.requires_grad for one in module.parameters()]
    return bool(needs) and not any(needs)


# --- order of hooks ----------------------------------------------------------------------------


@fault(subtle=True)
def order_not_contiguous(stack: ExitStack) -> None:
    """Hooks of a tensor that is not contiguous run newest first."""
    patch_handle(stack, lambda self, handle: None if self.is_contiguous() else newest_first(self._backward_hooks))


@fault(subtle=True)
class OrderHalf(Call):
    """In a call with a float16 or bfloat16 argument the own forward pre-hooks of the module run newest first."""

    def entries(self, store: str) -> Entries:
        if store == "_forward_pre_hooks" and any(
            one.dtype in (torch.float16, torch.bfloat16) for one in tensors(self.args)
        ):
            return [*self.everywhere(store).items(), *reversed(self.own(store).items())]
        return super().entries(store)


@fault(subtle=True)
class OrderEmptyOutput(Call):
    """Where the output is an empty tensor, global forward hooks run after those of the module."""

    def entries(self, store: str) -> Entries:
        if store == "_forward_hooks" and isinstance(self.out, Tensor) and not self.out.numel():
            return [*self.own(store).items(), *self.everywhere(store).items()]
        return super().entries(store)


@fault(subtle=True)
def order_prepend_to_three(stack: ExitStack) -> None:
    """A forward hook registered with prepend on a module that has three or more runs second."""
    original = torch.nn.Module.register_forward_hook

    def register(self: Any, hook: Any, **options: Any) -> Any:
        handle = original(self, hook, **options)
        if options.get("prepend") and len(self._forward_hooks) > 3:
            first, second, *others = self._forward_hooks
            reorder(self._forward_hooks, [second, first, *others])
        return handle

    swap(stack, torch.nn.Module, "register_forward_hook", register)


@fault(subtle=True)
class OrderDictOutput(Call):
    """Where the output is a dict, forward hooks that are given the keywords run after all others."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        if store == "_forward_hooks" and isinstance(self.out, dict):
            found.sort(key=lambda entry: self.flagged("_forward_hooks_with_kwargs", entry[0]))
        return found


@fault(subtle=True)
class OrderSameFunction(Call):
    """A function that is registered twice as a forward pre-hook runs the second time right after the first."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        if store == "_forward_pre_hooks":
            hooks = [hook for _, hook in found]
            found.sort(key=lambda entry: hooks.index(entry[1]))
        return found


@fault(subtle=True)
class OrderAfterFailure(Call):
    """After a call that failed, forward hooks with always_call run after the others of the module."""

    def rescue(self) -> None:
        super().rescue()
        hooks, always = self.own("_forward_hooks"), self.own("_forward_hooks_always_called")
        reorder(hooks, sorted(hooks, key=lambda key: key in always))


@fault(subtle=True)
def order_three_of_complex(stack: ExitStack) -> None:
    """Three or more hooks of a complex tensor run newest first."""

    def change(self: Any, handle: Any) -> None:
        if self.is_complex() and len(self._backward_hooks) > 2:
            newest_first(self._backward_hooks)

    patch_handle(stack, change)


# --- replaced inputs ---------------------------------------------------------------------------


class Inputs(Call):
    """`taken(new, old)` is what becomes of a positional input that a pre-hook returned for another."""

    def replace_args(self, result: Any) -> None:
        before = self.args
        super().replace_args(result)
        self.settle(before)

    def replace_both(self, result: Any) -> None:
        before = self.args
        super().replace_both(result)
        self.settle(before)

    def settle(self, before: Any) -> None:
        if self.args is before or not (isinstance(self.args, tuple) and isinstance(before, tuple)):
            return
        padded = [*before, *self.args[len(before) :]]
        made = tuple(self.taken(new, old) for new, old in zip(self.args, padded, strict=False))
        if any(one is not other for one, other in zip(made, self.args, strict=True)):
            self.args = made

    def taken(self, new: Any, old: Any) -> Any:
        raise NotImplementedError


@fault(subtle=True)
class InputInMemoryOrder(Inputs):
    """A transposed matrix that a forward pre-hook returns is read in the order of its memory."""

    def taken(self, new: Any, old: Any) -> Any:
        if isinstance(new, Tensor) and new.dim() == 2 and not new.is_contiguous() and new.t().is_contiguous():
            return new.as_strided(new.shape, (new.shape[1], 1))
        return new


@fault(subtle=True)
class InputCast(Inputs):
    """What a forward pre-hook returns is cast to the dtype of the input that it replaces."""

    def taken(self, new: Any, old: Any) -> Any:
        both = isinstance(new, Tensor) and isinstance(old, Tensor)
        return new.to(old.dtype) if both and new.dtype != old.dtype else new


def broadcasts(shape: Any, target: Any) -> bool:
    """Whether a tensor of this shape can be expanded to another shape."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return shape != target and len(shape) <= len(target) and all(one in (1, other) for one, other in pairs)


@fault(subtle=True)
class InputBroadcast(Inputs):
    """What a forward pre-hook returns is broadcast to the shape of the input that it replaces."""

    def taken(self, new: Any, old: Any) -> Any:
        both = isinstance(new, Tensor) and isinstance(old, Tensor)
        return new.expand(old.shape) if both and broadcasts(new.shape, old.shape) else new


@fault(subtle=True)
class InputThirdKeyword(Call):
    """The third and later keywords that a forward pre-hook returns keep what the caller passed."""

    def replace_both(self, result: Any) -> None:
        super().replace_both(result)
        late = [*self.kwargs][2:] if isinstance(self.kwargs, dict) else []
        kept = {name: self.first_kwargs[name] for name in late if name in self.first_kwargs}
        if any(self.kwargs[name] is not value for name, value in kept.items()):
            self.kwargs = {**self.kwargs, **kept}


@fault(subtle=True)
class InputNoneKept(Inputs):
    """None in the tuple that a forward pre-hook returns leaves that input as it was."""

    def taken(self, new: Any, old: Any) -> Any:
        return old if new is None else new


@fault(subtle=True)
class InputFromPartial(Call):
    """What a forward pre-hook that is a functools.partial returns is dropped."""

    def before(self, key: int, hook: Any) -> None:
        given = self.args, self.kwargs
        super().before(key, hook)
        if isinstance(hook, functools.partial):
            self.args, self.kwargs = given


@fault(subtle=True)
class InputFrozen(Inputs):
    """Inputs that a forward pre-hook returns are detached where all parameters of the module are frozen."""

    def taken(self, new: Any, old: Any) -> Any:
        return new.detach() if isinstance(new, Tensor) and new.requires_grad and frozen(self.module) else new


@fault(subtle=True)
class InputEmptyInEval(Inputs):
    """In eval an empty tensor that a forward pre-hook returns is ignored."""

    def taken(self, new: Any, old: Any) -> Any:
        return old if isinstance(new, Tensor) and not new.numel() and not self.module.training else new


# --- replaced outputs --------------------------------------------------------------------------


@fault(subtle=True)
class OutputSliceFromStart(Call):
    """A slice that a forward hook returns is read from the beginning of its memory."""

    def replace_out(self, result: Any) -> None:
        if isinstance(result, Tensor) and result.layout is torch.strided and result.storage_offset():
            result = result.as_strided(result.shape, result.stride(), 0)
        super().replace_out(result)


@fault(subtle=True)
class OutputInteger(Call):
    """An integer or bool tensor that a forward hook returns is dropped."""

    def replace_out(self, result: Any) -> None:
        floats = not isinstance(result, Tensor) or result.is_floating_point() or result.is_complex()
        super().replace_out(result if floats else None)


@fault(subtle=True)
class OutputReshaped(Call):
    """A tensor that a forward hook returns takes the shape of the output that it replaces, if the sizes allow it."""

    def replace_out(self, result: Any) -> None:
        if isinstance(result, Tensor) and isinstance(self.out, Tensor) and result.numel() == self.out.numel():
            result = result if result.shape == self.out.shape else result.reshape(self.out.shape)
        super().replace_out(result)


@fault(subtle=True)
class OutputFourthCall(Call):
    """From the fourth call of a module on what its forward hooks return is dropped."""

    calls: Any

    @classmethod
    def enter(cls, stack: ExitStack) -> None:
        cls.calls = weakref.WeakKeyDictionary()
        super().enter(stack)

    def inner(self) -> Any:
        self.calls[self.module] = self.calls.get(self.module, 0) + 1
        return super().inner()

    def replace_out(self, result: Any) -> None:
        super().replace_out(result if self.calls.get(self.module, 0) < 4 else None)


@fault(subtle=True)
class OutputDictMerged(Call):
    """A dict that a forward hook returns for a dict is merged into it: what the hook left out stays."""

    def replace_out(self, result: Any) -> None:
        if type(result) in (dict, OrderedDict) and isinstance(self.out, dict) and not result.keys() >= self.out.keys():
            result = type(result)({**self.out, **result})
        super().replace_out(result)


@fault(subtle=True)
class OutputSameFunction(Call):
    """What a function that is registered twice as a forward hook returns the second time is dropped."""

    def inner(self) -> Any:
        self.seen: list[Any] = []
        return super().inner()

    def after(self, key: int, hook: Any) -> None:
        before = self.out
        super().after(key, hook)
        if hook in self.seen:
            self.out = before
        self.seen.append(hook)


@fault(subtle=True)
class OutputAfterFailure(Call):
    """What a forward hook with always_call returns is dropped once it has run for a call that failed."""

    late: set[int]

    @classmethod
    def enter(cls, stack: ExitStack) -> None:
        cls.late = set()
        super().enter(stack)

    def ask_late(self, key: int, hook: Any) -> Any:
        self.late.add(key)
        return super().ask_late(key, hook)

    def after(self, key: int, hook: Any) -> None:
        before = self.out
        super().after(key, hook)
        if key in self.late:
            self.out = before


@fault(subtle=True)
class OutputThirdOfList(Call):
    """Of a list that a forward hook returns for a list the third and later entries are those of before."""

    def replace_out(self, result: Any) -> None:
        both = type(result) is list and type(self.out) is list and result is not self.out
        if both and min(len(result), len(self.out)) > 2:
            result = [*result[:2], *self.out[2 : len(result)], *result[max(2, len(self.out)) :]]
        super().replace_out(result)
