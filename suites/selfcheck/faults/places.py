"""Faults of what full backward hooks take for the inputs and outputs of a module."""

import contextlib
from typing import Any

import torch
from torch.autograd import forward_ad

from suites.selfcheck.faults.base import Call, Full, fault

FULL = ("torch.nn.Module.register_full_backward_hook",)
PRE = ("torch.nn.Module.register_full_backward_pre_hook",)


@fault("backward.given", needs=FULL, subtle=True)
class KeywordsCount(Call):
    """Keyword tensors that need a gradient have entries in the grad_input of full backward hooks."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre)
        if made is not None and any(isinstance(one, torch.Tensor) and one.requires_grad for one in self.named()):
            wrap = made.setup_input_hook

            def both(args: Any) -> Any:
                wrapped = wrap((*args, *self.named()))
                self.kwargs = dict(zip(self.kwargs, wrapped[len(args) :], strict=True))
                return wrapped[: len(args)]

            made.setup_input_hook = both
        return made

    def named(self) -> Any:
        return self.kwargs.values()


@fault("backward.given", needs=FULL, subtle=True)
class TwoEntries(Full):
    """Full backward hooks are given the gradients of the first two inputs and outputs only."""

    def call_hooks(self, given: Any) -> Any:
        kept, self.grad_outputs = self.grad_outputs, self.grad_outputs[:2]
        try:
            return (*super().call_hooks(given[:2]), *given[2:])
        finally:
            self.grad_outputs = kept


@fault("backward.around", needs=FULL, subtle=True)
class LateWithoutInput(Full):
    """Full backward hooks of a module whose inputs need no gradient run when all of backward() is over."""

    def without_input(self) -> None:
        seen, hooks = self.grad_outputs, tuple(self.user_hooks)

        def call() -> None:
            for hook in hooks:
                hook(self.module, (None,) * self.n_inputs, seen)

        torch.autograd.Variable._execution_engine.queue_callback(call)  # type: ignore[attr-defined]
        self.grad_outputs = None


@fault("backward.structures", needs=FULL, subtle=True)
class ContainersAtOutput(Full):
    """With a list or a dict among the inputs full backward hooks run at the output, whatever else is there."""

    def setup_input_hook(self, args: Any) -> Any:
        wrapped = super().setup_input_hook(args)
        if any(isinstance(one, (list, dict)) for one in args):
            self.input_tensors_index = None
        return wrapped


@fault("backward.wrong", needs=PRE, subtle=True)
class PreRefusesNoGrad(Call):
    """A module with a full backward pre-hook cannot be called under no_grad."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        if pre and not torch.is_grad_enabled():
            raise RuntimeError("backward pre-hooks need grad mode")
        return super().wrapper(full, pre)


@fault("backward.returns", needs=PRE, subtle=True)
class FullPreSwallowed(Full):
    """What a full backward pre-hook raises is swallowed."""

    def call_pre_hooks(self) -> None:
        with contextlib.suppress(Exception):
            super().call_pre_hooks()


def copied(value: Any) -> Any:
    """The same without a view of anything: what may be changed in place."""
    return value.clone() if isinstance(value, torch.Tensor) and value.requires_grad else value


@fault("backward.inplace", needs=FULL, subtle=True)
class InputCopied(Full):
    """A module with full backward hooks is given a copy of its inputs, which it may change in place."""

    def setup_input_hook(self, args: Any) -> Any:
        return tuple(copied(one) for one in super().setup_input_hook(args))


@fault("backward.inplace", needs=PRE, subtle=True)
class PreInputCopied(Full):
    """A module with full backward pre-hooks alone is given a copy of its inputs, which it may change in place."""

    def setup_input_hook(self, args: Any) -> Any:
        wrapped = super().setup_input_hook(args)
        return wrapped if self.user_hooks else tuple(copied(one) for one in wrapped)


@fault("backward.inplace", needs=FULL, subtle=True)
class OutputCopied(Full):
    """The one output of a module with full backward hooks is a copy, which the caller may change in place."""

    def setup_output_hook(self, args: Any) -> Any:
        return copied(super().setup_output_hook(args))


@fault("backward.inplace", needs=PRE, subtle=True)
class PreOutputCopied(Full):
    """The one output of a module with full backward pre-hooks alone is a copy."""

    def setup_output_hook(self, args: Any) -> Any:
        made = super().setup_output_hook(args)
        return made if self.user_hooks else copied(made)


@fault("backward.inplace", needs=FULL, subtle=True)
class LaterOutputsCopied(Full):
    """Of several outputs of a module with full backward hooks all but the first are copies."""

    def setup_output_hook(self, args: Any) -> Any:
        made = super().setup_output_hook(args)
        return (made[0], *map(copied, made[1:])) if type(made) is tuple and made else made


@fault("backward.inplace", needs=FULL, subtle=True)
class OutputCopiedWithoutInput(Full):
    """Where no input needs a gradient, the output of a module with full backward hooks is a copy."""

    def setup_output_hook(self, args: Any) -> Any:
        made = super().setup_output_hook(args)
        return made if self.input_tensors_index is not None else copied(made)


@fault("backward.structures", needs=FULL, subtle=True)
class SubclassPassed(Full):
    """An output of a class of its own is returned as it is, and full backward hooks do not run for it."""

    def setup_output_hook(self, args: Any) -> Any:
        outs = args if isinstance(args, tuple) else (args,)
        special = any(isinstance(one, torch.Tensor) and type(one) is not torch.Tensor for one in outs)
        return args if special else super().setup_output_hook(args)


@fault("backward.structures", needs=FULL, subtle=True)
class SparsePassed(Full):
    """Sparse inputs are given to a module with full backward hooks as they are."""

    def setup_input_hook(self, args: Any) -> Any:
        if any(isinstance(one, torch.Tensor) and one.is_sparse for one in args):
            self.n_inputs = len(args)
            return args
        return super().setup_input_hook(args)


@fault("backward.modes", needs=FULL, subtle=True)
class DualUnhooked(Call):
    """Under forward-mode differentiation full backward hooks are left out."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        return super().wrapper(full, pre) if forward_ad._current_level < 0 else None
