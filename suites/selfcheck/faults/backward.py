"""Faults of the full backward hooks of modules."""

from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Full, fault
from suites.selfcheck.faults.forward import first_only

FULL = ("torch.nn.Module.register_full_backward_hook",)
PRE = ("torch.nn.Module.register_full_backward_pre_hook",)
GLOBAL_FULL = (*FULL, "torch.nn.modules.module.register_module_full_backward_hook")


# --- order and calls ---------------------------------------------------------------------------


@fault("backward", "ordering", needs=FULL)
class FullNewestFirst(Full):
    """Full backward hooks run newest first."""

    def __init__(self, module: Any, user_hooks: Any, user_pre_hooks: Any = None) -> None:
        super().__init__(module, user_hooks[::-1], user_pre_hooks)


@fault("backward", "ordering", needs=PRE)
class FullPreNewestFirst(Full):
    """Full backward pre-hooks run newest first."""

    def call_pre_hooks(self) -> None:
        self.user_pre_hooks = self.user_pre_hooks[::-1]
        super().call_pre_hooks()


@fault("backward", "ordering", needs=GLOBAL_FULL, subtle=True)
class FullOwnBeforeGlobal(Call):
    """A module's own full backward hooks run before the global ones."""

    def backward_hooks(self) -> Any:
        full, legacy, pre = super().backward_hooks()
        shared = list(self.everywhere("_backward_hooks").values())
        return sorted(full, key=lambda hook: hook in shared), legacy, pre


@fault("backward", "ordering", needs=PRE, subtle=True)
class FullPreOwnBeforeGlobal(Call):
    """A module's own full backward pre-hooks run before the global ones."""

    def backward_hooks(self) -> Any:
        full, legacy, pre = super().backward_hooks()
        shared = list(self.everywhere("_backward_pre_hooks").values())
        return full, legacy, sorted(pre, key=lambda hook: hook in shared)


@fault("backward", needs=FULL)
class FullTwice(Full):
    """Every full backward hook is called twice."""

    def call_hooks(self, given: Any) -> Any:
        return super().call_hooks(super().call_hooks(given))


@fault("backward", needs=FULL)
class FullAtOutput(Full):
    """Full backward hooks are called when the gradient of the output is ready, with None for those of the inputs."""

    def at_output(self, grads: Any) -> Any:
        result = super().at_output(grads)
        if self.grad_outputs is not None:
            super().call_hooks((None,) * self.n_inputs)
        return result

    def call_hooks(self, given: Any) -> Any:
        return given


@fault("backward", needs=FULL, subtle=True)
class FullSilentWithoutInput(Full):
    """Full backward hooks are not called when no input requires grad."""

    def without_input(self) -> None:
        self.grad_outputs = None


@fault("backward", needs=FULL, subtle=True)
class FullOnce(Full):
    """Full backward hooks are called in the first backward through a call only."""

    def call_hooks(self, given: Any) -> Any:
        if getattr(self, "called", False):
            return given
        self.called = True
        return super().call_hooks(given)


@fault("backward", needs=PRE, subtle=True)
class FullPreOnce(Full):
    """Full backward pre-hooks are called in the first backward through a call only."""

    def call_pre_hooks(self) -> None:
        if not getattr(self, "called", False):
            self.called = True
            super().call_pre_hooks()


@fault("backward", "ordering", needs=FULL, subtle=True)
class FullAtMostTwo(Full):
    """A third full backward hook of a call is not called."""

    def __init__(self, module: Any, user_hooks: Any, user_pre_hooks: Any = None) -> None:
        super().__init__(module, user_hooks[:2], user_pre_hooks)


@fault("backward", needs=PRE, subtle=True)
class PreNeedsFull(Full):
    """Full backward pre-hooks are called only for modules that have full backward hooks as well."""

    def call_pre_hooks(self) -> None:
        if self.user_hooks:
            super().call_pre_hooks()


@fault("backward", "ordering", needs=FULL, subtle=True)
class FullLive(Call):
    """The full backward hooks of a call are those there are when backward comes to it."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre)
        if made is not None:
            made.user_hooks = _Late(self)
        return made


class _Late:
    """The full backward hooks of a module, looked up each time they are asked for."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def __iter__(self) -> Any:
        return iter(Call.backward_hooks(self.call)[0])


@fault("backward", "ordering.nested", needs=FULL, subtle=True)
class FullOutermost(Call):
    """The full backward hooks of a module inside a module that has some too are not called."""

    depth = 0

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre) if not self.depth else None
        self.counts = made is not None
        FullOutermost.depth += self.counts
        return made

    def run(self) -> Any:
        try:
            return super().run()
        finally:
            FullOutermost.depth -= getattr(self, "counts", False)


@fault("backward", needs=FULL, subtle=True)
class FullSharedState(Call):
    """A module that is called again uses the state of its first call for full backward hooks."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre)
        if made is None:
            return None
        return self.module.__dict__.setdefault("_kept_wrapper", made)


# --- arguments ---------------------------------------------------------------------------------


@fault("backward", needs=FULL)
class FullSwapped(Full):
    """Full backward hooks are given grad_output first and grad_input second."""

    def call_hooks(self, given: Any) -> Any:
        for hook in self.user_hooks:
            result = hook(self.module, self.grad_outputs, given)
            if result is not None and len(result) == len(given):
                given = result
        return given


@fault("backward", needs=FULL, subtle=True)
class FirstGradOutput(Full):
    """Full backward hooks are given the gradient of the first output only."""

    def call_hooks(self, given: Any) -> Any:
        kept, self.grad_outputs = self.grad_outputs, self.grad_outputs[:1]
        try:
            return super().call_hooks(given)
        finally:
            self.grad_outputs = kept


@fault("backward", needs=FULL, subtle=True)
class FirstGradInput(Full):
    """Full backward hooks are given None for the gradients of all inputs but the first."""

    def call_hooks(self, given: Any) -> Any:
        called = super().call_hooks((given[0],) + (None,) * (len(given) - 1))
        return tuple(old if new is None else new for old, new in zip(given, called, strict=True))


@fault("backward", needs=PRE, subtle=True)
class StaleGradOutput(Full):
    """Full backward hooks are given grad_output from before the pre-hooks replaced it."""

    def call_pre_hooks(self) -> None:
        self.original = self.grad_outputs
        super().call_pre_hooks()

    def call_hooks(self, given: Any) -> Any:
        self.grad_outputs = self.original
        return super().call_hooks(given)


@fault("backward", needs=FULL, subtle=True)
class KeptGradOutput(Full):
    """In a second backward through a call full backward hooks are given grad_output of the first."""

    def call_hooks(self, given: Any) -> Any:
        self.seen = getattr(self, "seen", self.grad_outputs)
        self.grad_outputs = self.seen
        return super().call_hooks(given)


@fault("backward", needs=FULL, subtle=True)
class ZerosForNone(Full):
    """Where a gradient is undefined full backward hooks are given a zero."""

    def _pack_with_none(self, indices: Any, values: Any, size: int) -> Any:
        packed = super()._pack_with_none(indices, values, size)
        known = next((one for one in packed if one is not None), None)
        return packed if known is None else tuple(torch.zeros_like(known) if one is None else one for one in packed)


@fault("backward", needs=FULL, subtle=True)
class NonesLeftOut(Full):
    """Gradients that are None are left out of the grad_output of full backward hooks."""

    def call_hooks(self, given: Any) -> Any:
        self.grad_outputs = tuple(one for one in self.grad_outputs if one is not None)
        return super().call_hooks(given)


@fault("backward", needs=FULL)
class ListOfGrads(Full):
    """Full backward hooks are given a list of gradients of the inputs."""

    def call_hooks(self, given: Any) -> Any:
        return super().call_hooks(list(given))


@fault("backward", needs=FULL, subtle=True)
class WrongModule(Full):
    """Full backward hooks are given the first submodule, where there is one, instead of the module."""

    def call_hooks(self, given: Any) -> Any:
        self.module = next(self.module.children(), self.module)
        return super().call_hooks(given)


# --- what hooks return -------------------------------------------------------------------------


@fault("backward", needs=FULL)
class FullReturnsIgnored(Full):
    """What a full backward hook returns is ignored."""

    def call_hooks(self, given: Any) -> Any:
        super().call_hooks(given)
        return given


@fault("backward", needs=PRE)
class PreGradReturnsIgnored(Full):
    """What a full backward pre-hook returns is ignored."""

    def call_pre_hooks(self) -> None:
        kept = self.grad_outputs
        super().call_pre_hooks()
        self.grad_outputs = kept


@fault("backward", needs=PRE, subtle=True)
class PreGradHalf(Full):
    """What a full backward pre-hook returns reaches the full hooks, but not the graph inside the module."""

    def at_output(self, grads: Any) -> Any:
        super().at_output(grads)
        return None


@fault("backward", needs=FULL, subtle=True)
class FullUnchained(Full):
    """Each full backward hook is given the gradients as computed; what the last one returns counts."""

    def call_hooks(self, given: Any) -> Any:
        latest = given
        for hook in self.user_hooks:
            result = hook(self.module, given, self.grad_outputs)
            if result is not None:
                latest = self.checked(result, given)
        return latest


@fault("backward", needs=PRE, subtle=True)
class FullPreUnchained(Full):
    """Each full backward pre-hook is given the gradients as computed; what the last one returns counts."""

    def call_pre_hooks(self) -> None:
        latest = given = self.grad_outputs
        for hook in self.user_pre_hooks:
            latest = self.checked(hook(self.module, given), latest)
        self.grad_outputs = latest


@fault("backward", needs=FULL, subtle=True)
class FirstGradReplaced(Full):
    """Of the gradients of several inputs a full backward hook replaces only the first."""

    def checked(self, result: Any, given: Any) -> Any:
        return first_only(given, super().checked(result, given))


@fault("backward", needs=FULL, subtle=True)
class AnyNumber(Full):
    """The number of gradients that a full backward hook returns is not checked."""

    def checked(self, result: Any, given: Any) -> Any:
        return given if result is None or len(result) != len(given) else result


@fault("backward", needs=FULL, subtle=True)
class ReturnWithoutInput(Full):
    """A full backward hook of a module whose inputs need no gradient may return one; it is ignored."""

    def without_input(self) -> None:
        for hook in self.user_hooks:
            hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
        self.grad_outputs = None


@fault("backward", needs=FULL, subtle=True)
class FullSwallowed(Full):
    """What a full backward hook raises is swallowed."""

    def call_hooks(self, given: Any) -> Any:
        try:
            return super().call_hooks(given)
        except Exception:  # noqa: BLE001 - that is the fault
            return given


@fault("backward", needs=FULL, subtle=True)
class FullDetached(Full):
    """The gradients that full backward hooks are given have no graph, so that a second derivative is lost."""

    def call_hooks(self, given: Any) -> Any:
        return super().call_hooks(tuple(one if one is None else one.detach() for one in given))


@fault("backward", needs=PRE, subtle=True)
class FailedPreForgets(Full):
    """Of a pass in which a full backward pre-hook raises, or returns too many gradients, nothing is left."""

    def call_pre_hooks(self) -> None:
        try:
            super().call_pre_hooks()
        except Exception:
            self.grad_outputs = None
            raise
