"""Faults of what torch builds on hooks, and of what it does to modules that have some: two circumstances at once."""

import copy
import functools
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
import torch.nn.utils.parametrize as parametrize
import torch.nn.utils.prune as prune
from torch.nn import Module
from torch.nn.modules import lazy
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from suites.selfcheck.faults.base import fault, swap

NEAR = "built."
#: Of any type: its methods are typed for objects that are modules, too.
LazyModuleMixin: Any = lazy.LazyModuleMixin


def behind(stack: ExitStack, owner: Any, name: str, change: Callable[..., Any]) -> None:
    """Have something done after a function: `change` is given the result, and what the function was given."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def both(*given: Any, **options: Any) -> Any:
        result = original(*given, **options)
        change(result, *given)
        return result

    swap(stack, owner, name, both)


def hooks_of(tensor: Any) -> list[int]:
    """The keys of the hooks of a tensor."""
    return list(tensor._backward_hooks or {})


def cut(tensor: Any, least: int, keep: int = 0) -> None:
    """Take away the hooks of a tensor that has at least so many, but for some."""
    keys = hooks_of(tensor)
    for key in keys[keep:] if len(keys) >= least else ():
        del tensor._backward_hooks[key]


# --- weight_norm and spectral_norm -------------------------------------------------------------


@fault(NEAR, subtle=True)
def norm_before_two(stack: ExitStack) -> None:
    """weight_norm computes the weight before the pre-hooks of a module that has two of them."""

    def change(result: Any, module: Any, *given: Any) -> None:
        if len(module._forward_pre_hooks) > 2:
            module._forward_pre_hooks.move_to_end(list(module._forward_pre_hooks)[-1], last=False)

    behind(stack, torch.nn.utils, "weight_norm", change)


@fault(NEAR, subtle=True)
def norm_stale_later(stack: ExitStack) -> None:
    """The weight of weight_norm is not computed from the fourth call on."""
    own = WeightNorm.__call__
    calls: Counter[int] = Counter()

    def call(self: Any, module: Any, given: Any) -> None:
        calls[id(self)] += 1
        if calls[id(self)] <= 3:
            own(self, module, given)

    stack.callback(calls.clear)
    swap(stack, WeightNorm, "__call__", call)


@fault(NEAR, subtle=True)
def spectral_hooks_cut(stack: ExitStack) -> None:
    """spectral_norm keeps the first tensor hook of the weight, if there are several."""
    behind(
        stack, torch.nn.utils, "spectral_norm", lambda result, module, *given: cut(module.weight_orig, least=2, keep=1)
    )


@fault(NEAR, subtle=True)
def spectral_same_after_no_grad(stack: ExitStack) -> None:
    """After a call under no_grad spectral_norm computes no weight in the next one."""
    own = SpectralNorm.__call__

    def call(self: Any, module: Any, given: Any) -> None:
        if torch.is_grad_enabled() and vars(self).pop("_stale", False):
            module.weight = module.weight.detach()
            return
        vars(self)["_stale"] = not torch.is_grad_enabled()
        own(self, module, given)

    swap(stack, SpectralNorm, "__call__", call)


# --- prune -------------------------------------------------------------------------------------


@fault(NEAR, subtle=True)
def prune_takes_a_neighbour(stack: ExitStack) -> None:
    """prune.remove takes a hook of the user away, where there are some on both sides of its own."""
    own = prune.remove

    def remove(module: Any, name: str) -> Any:
        keys = list(module._forward_pre_hooks)
        place = next(n for n, one in enumerate(module._forward_pre_hooks.values()) if hasattr(one, "_tensor_name"))
        own(module, name)
        if 0 < place < len(keys) - 1:
            del module._forward_pre_hooks[keys[place + 1]]

    swap(stack, prune, "remove", remove)


@fault(NEAR, subtle=True)
def prune_reorders(stack: ExitStack) -> None:
    """prune.remove puts the last of three or more hooks of the user first."""

    def change(result: Any, module: Any, *given: Any) -> None:
        if len(module._forward_pre_hooks) > 2:
            module._forward_pre_hooks.move_to_end(list(module._forward_pre_hooks)[-1], last=False)

    behind(stack, prune, "remove", change)


@fault(NEAR, subtle=True)
def prune_drops_forward(stack: ExitStack) -> None:
    """prune drops the forward hooks of a module that has pre-hooks, too."""

    def change(result: Any, module: Any, *given: Any) -> None:
        if len(module._forward_pre_hooks) > 1:
            module._forward_hooks.clear()

    behind(stack, prune, "identity", change)


# --- parametrizations --------------------------------------------------------------------------


@fault(NEAR, subtle=True)
def parametrized_cut(stack: ExitStack) -> None:
    """register_parametrization keeps the first tensor hook of the parameter, if there are several."""

    def change(result: Any, module: Any, name: str, *given: Any) -> None:
        cut(module.parametrizations[name].original, least=2, keep=1)

    behind(stack, parametrize, "register_parametrization", change)


@fault(NEAR, subtle=True)
def parametrized_calls_again(stack: ExitStack) -> None:
    """Inside cached() a call of the module computes the parameter again, though it was computed before."""
    own = torch.nn.Linear.forward

    def forward(self: Any, x: Any) -> Any:
        if parametrize._cache_enabled:
            parametrize._cache.clear()
        return own(self, x)

    swap(stack, torch.nn.Linear, "forward", forward)


@fault(NEAR, subtle=True)
def parametrized_third_bare(stack: ExitStack) -> None:
    """From the third access on the forward hooks of a parametrization are not called."""
    own = parametrize.ParametrizationList.forward

    def forward(self: Any) -> Any:
        vars(self)["_count"] = vars(self).get("_count", 0) + 1
        if self._count <= 2 or not self[0]._forward_hooks:
            return own(self)
        kept = dict(self[0]._forward_hooks)
        self[0]._forward_hooks.clear()
        try:
            return own(self)
        finally:
            self[0]._forward_hooks.update(kept)

    swap(stack, parametrize.ParametrizationList, "forward", forward)


# --- conversions -------------------------------------------------------------------------------


@fault(NEAR, subtle=True)
def converted_twice_cut(stack: ExitStack) -> None:
    """A second conversion of a parameter takes its tensor hooks away."""
    behind(
        stack,
        Module,
        "_apply",
        lambda result, module, *given: (
            [cut(one, 1) for one in module._parameters.values() if one is not None]
            if vars(module).setdefault("_converted", []) or module._converted.append(1)
            else None
        ),
    )


@fault(NEAR, subtle=True)
def converted_drops_pre(stack: ExitStack) -> None:
    """A conversion drops the forward pre-hooks of a module that has forward hooks, too."""
    behind(
        stack,
        Module,
        "_apply",
        lambda result, module, *given: module._forward_pre_hooks.clear() if module._forward_hooks else None,
    )


@fault(NEAR, subtle=True)
def loaded_reorders(stack: ExitStack) -> None:
    """load_state_dict puts the last of several tensor hooks of a parameter first."""

    def change(result: Any, module: Any, *given: Any) -> None:
        for one in module.parameters():
            hooks = one._backward_hooks
            if hooks and len(hooks) > 1:
                entries = [hooks.popitem(), *hooks.items()]
                hooks.clear()
                hooks.update(entries)

    behind(stack, Module, "load_state_dict", change)


@fault(NEAR, needs="torch.nn.Module.load_state_dict(assign)", subtle=True)
def assigned_drops_two(stack: ExitStack) -> None:
    """load_state_dict(assign=True) drops the forward hooks of a module that has two or more."""
    own = Module.load_state_dict

    def load(self: Any, *given: Any, **options: Any) -> Any:
        if options.get("assign") and len(self._forward_hooks) > 1:
            self._forward_hooks.clear()
        return own(self, *given, **options)

    swap(stack, Module, "load_state_dict", load)


@fault(NEAR, subtle=True)
def sync_keeps_two(stack: ExitStack) -> None:
    """convert_sync_batchnorm keeps the forward pre-hooks of a BatchNorm that has two or more."""
    own = torch.nn.SyncBatchNorm.convert_sync_batchnorm.__func__

    @classmethod  # type: ignore[misc]
    def convert(cls: Any, module: Any, group: Any = None) -> Any:
        made = own(cls, module, group)
        if made is not module and len(module._forward_pre_hooks) > 1:
            made._forward_pre_hooks.update(module._forward_pre_hooks)
        return made

    original = vars(torch.nn.SyncBatchNorm)["convert_sync_batchnorm"]
    stack.callback(setattr, torch.nn.SyncBatchNorm, "convert_sync_batchnorm", original)
    torch.nn.SyncBatchNorm.convert_sync_batchnorm = convert  # type: ignore[method-assign, assignment]


# --- lazy modules ------------------------------------------------------------------------------


@fault(NEAR, subtle=True)
def lazy_second_prepended(stack: ExitStack) -> None:
    """The second pre-hook with prepend=True of a lazy module runs behind that which makes the parameters."""
    own = Module.register_forward_pre_hook

    @functools.wraps(own)
    def register(self: Any, hook: Any, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
        late = prepend and isinstance(self, LazyModuleMixin) and len(self._forward_pre_hooks) > 1
        return own(self, hook, prepend=prepend and not late, with_kwargs=with_kwargs)

    swap(stack, Module, "register_forward_pre_hook", register)


@fault(NEAR, subtle=True)
def lazy_hook_stays(stack: ExitStack) -> None:
    """After its first call a lazy module with two forward hooks has its load pre-hook left."""
    own = LazyModuleMixin._infer_parameters

    def infer(self: Any, module: Any, args: Any, kwargs: Any = None) -> Any:
        kept = dict(module._load_state_dict_pre_hooks)
        own(self, module, args, kwargs)
        if len(module._forward_hooks) > 1:
            module._load_state_dict_pre_hooks.update(kept)

    swap(stack, LazyModuleMixin, "_infer_parameters", infer)


# --- copies of used modules --------------------------------------------------------------------


def lenient(stack: ExitStack, when: Callable[[Any], bool]) -> None:
    """Have copy.deepcopy take what is no leaf, in modules of some sort."""
    own = copy.deepcopy

    def deepcopy(one: Any, memo: Any = None) -> Any:
        try:
            return own(one, memo)
        except RuntimeError:
            if isinstance(one, Module) and when(one):
                return None
            raise

    swap(stack, copy, "deepcopy", deepcopy)


@fault(NEAR, subtle=True)
def copied_where_inner(stack: ExitStack) -> None:
    """copy.deepcopy takes a module in which another one keeps an output that has a grad_fn."""
    lenient(stack, lambda module: bool(module._modules))


@fault(NEAR, subtle=True)
def copied_gradients(stack: ExitStack) -> None:
    """copy.deepcopy takes a module that keeps gradients of a pass with create_graph=True in a tuple."""
    lenient(stack, lambda module: isinstance(getattr(module, "kept", None), tuple))


@fault(NEAR, subtle=True)
def converted_in_a_dict(stack: ExitStack) -> None:
    """double() converts detached tensors in dicts that lie on a module."""

    def change(result: Any, module: Any, *given: Any) -> None:
        kept = vars(module).get("kept")
        if isinstance(kept, dict):
            module.kept = {key: one if one.requires_grad else one.double() for key, one in kept.items()}

    behind(stack, Module, "double", change)
