"""Faults of what torch builds on hooks, and of what it does to modules that have some: two circumstances at once."""

import copy
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
import torch.nn.utils.parametrize as parametrize
import torch.nn.utils.prune as prune
from torch.nn import Module
from torch.nn.modules import lazy
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from suites.selfcheck.faults.base import fault, patched, rows, swap

NEAR = "built."
#: Of any type: its methods are typed for objects that are modules, too.
LazyModuleMixin: Any = lazy.LazyModuleMixin


def behind(owner: Any, name: str) -> Callable[[Any], Any]:
    """Register a fault: a function that is called behind one of torch, with its result and what it was given."""

    def register(wrong: Any) -> Any:
        def both(right: Any, *given: Any, **options: Any) -> Any:
            result = right(*given, **options)
            wrong(result, *given)
            return result

        both.__name__, both.__doc__ = wrong.__name__, wrong.__doc__
        patched(owner, name, NEAR)(both)
        return wrong

    return register


def hooks_of(tensor: Any) -> list[int]:
    """The keys of the hooks of a tensor."""
    return list(tensor._backward_hooks or {})


def cut(tensor: Any, least: int, keep: int = 0) -> None:
    """Take away the hooks of a tensor that has at least so many, but for some."""
    keys = hooks_of(tensor)
    for key in keys[keep:] if len(keys) >= least else ():
        del tensor._backward_hooks[key]


# --- weight_norm and spectral_norm -------------------------------------------------------------


@behind(torch.nn.utils, "weight_norm")
def norm_before_two(result: Any, module: Any, *given: Any) -> None:
    """weight_norm computes the weight before the pre-hooks of a module that has two of them."""
    if len(module._forward_pre_hooks) > 2:
        module._forward_pre_hooks.move_to_end(list(module._forward_pre_hooks)[-1], last=False)


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


@behind(torch.nn.utils, "spectral_norm")
def spectral_hooks_cut(result: Any, module: Any, *given: Any) -> None:
    """spectral_norm keeps the first tensor hook of the weight, if there are several."""
    cut(module.weight_orig, least=2, keep=1)


@patched(SpectralNorm, "__call__", NEAR)
def spectral_same_after_no_grad(right: Any, self: Any, module: Any, given: Any) -> None:
    """After a call under no_grad spectral_norm computes no weight in the next one."""
    if torch.is_grad_enabled() and vars(self).pop("_stale", False):
        module.weight = module.weight.detach()
        return
    vars(self)["_stale"] = not torch.is_grad_enabled()
    right(self, module, given)


# --- prune -------------------------------------------------------------------------------------


@patched(prune, "remove", NEAR)
def prune_takes_a_neighbour(right: Any, module: Any, name: str) -> Any:
    """prune.remove takes a hook of the user away, where there are some on both sides of its own."""
    keys = list(module._forward_pre_hooks)
    place = next(n for n, one in enumerate(module._forward_pre_hooks.values()) if hasattr(one, "_tensor_name"))
    right(module, name)
    if 0 < place < len(keys) - 1:
        del module._forward_pre_hooks[keys[place + 1]]


@behind(prune, "remove")
def prune_reorders(result: Any, module: Any, *given: Any) -> None:
    """prune.remove puts the last of three or more hooks of the user first."""
    if len(module._forward_pre_hooks) > 2:
        module._forward_pre_hooks.move_to_end(list(module._forward_pre_hooks)[-1], last=False)


@behind(prune, "identity")
def prune_drops_forward(result: Any, module: Any, *given: Any) -> None:
    """prune drops the forward hooks of a module that has pre-hooks, too."""
    if len(module._forward_pre_hooks) > 1:
        module._forward_hooks.clear()


# --- parametrizations --------------------------------------------------------------------------


@behind(parametrize, "register_parametrization")
def parametrized_cut(result: Any, module: Any, name: str, *given: Any) -> None:
    """register_parametrization keeps the first tensor hook of the parameter, if there are several."""
    cut(module.parametrizations[name].original, least=2, keep=1)


@patched(torch.nn.Linear, "forward", NEAR)
def parametrized_calls_again(right: Any, self: Any, x: Any) -> Any:
    """Inside cached() a call of the module computes the parameter again, though it was computed before."""
    if parametrize._cache_enabled:
        parametrize._cache.clear()
    return right(self, x)


@patched(parametrize.ParametrizationList, "forward", NEAR)
def parametrized_third_bare(right: Any, self: Any) -> Any:
    """From the third access on the forward hooks of a parametrization are not called."""
    vars(self)["_count"] = vars(self).get("_count", 0) + 1
    if self._count <= 2 or not self[0]._forward_hooks:
        return right(self)
    kept = dict(self[0]._forward_hooks)
    self[0]._forward_hooks.clear()
    try:
        return right(self)
    finally:
        self[0]._forward_hooks.update(kept)


# --- conversions -------------------------------------------------------------------------------


@behind(Module, "_apply")
def converted_twice_cut(result: Any, module: Any, *given: Any) -> None:
    """A second conversion of a parameter takes its tensor hooks away."""
    if vars(module).get("_converted"):
        for one in module._parameters.values():
            if one is not None:
                cut(one, 1)
    vars(module)["_converted"] = True


@behind(Module, "_apply")
def converted_drops_pre(result: Any, module: Any, *given: Any) -> None:
    """A conversion drops the forward pre-hooks of a module that has forward hooks, too."""
    if module._forward_hooks:
        module._forward_pre_hooks.clear()


@behind(Module, "load_state_dict")
def loaded_reorders(result: Any, module: Any, *given: Any) -> None:
    """load_state_dict puts the last of several tensor hooks of a parameter first."""
    for one in module.parameters():
        hooks = one._backward_hooks
        if hooks and len(hooks) > 1:
            entries = [hooks.popitem(), *hooks.items()]
            hooks.clear()
            hooks.update(entries)


@patched(Module, "load_state_dict", NEAR, needs="torch.nn.Module.load_state_dict(assign)")
def assigned_drops_two(right: Any, self: Any, *given: Any, **options: Any) -> Any:
    """load_state_dict(assign=True) drops the forward hooks of a module that has two or more."""
    if options.get("assign") and len(self._forward_hooks) > 1:
        self._forward_hooks.clear()
    return right(self, *given, **options)


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


@patched(Module, "register_forward_pre_hook", NEAR)
def lazy_second_prepended(right: Any, self: Any, hook: Any, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
    """The second pre-hook with prepend=True of a lazy module runs behind that which makes the parameters."""
    late = prepend and isinstance(self, LazyModuleMixin) and len(self._forward_pre_hooks) > 1
    return right(self, hook, prepend=prepend and not late, with_kwargs=with_kwargs)


@patched(LazyModuleMixin, "_infer_parameters", NEAR)
def lazy_hook_stays(right: Any, self: Any, module: Any, args: Any, kwargs: Any = None) -> Any:
    """After its first call a lazy module with two forward hooks has its load pre-hook left."""
    kept = dict(module._load_state_dict_pre_hooks)
    right(self, module, args, kwargs)
    if len(module._forward_hooks) > 1:
        module._load_state_dict_pre_hooks.update(kept)


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


rows(NEAR)(
    (
        "copied_where_inner",
        "copy.deepcopy takes a module in which another one keeps an output that has a grad_fn.",
        partial(lenient, when=lambda module: bool(module._modules)),
    ),
    (
        "copied_gradients",
        "copy.deepcopy takes a module that keeps gradients of a pass with create_graph=True in a tuple.",
        partial(lenient, when=lambda module: isinstance(getattr(module, "kept", None), tuple)),
    ),
)


@behind(Module, "double")
def converted_in_a_dict(result: Any, module: Any, *given: Any) -> None:
    """double() converts detached tensors in dicts that lie on a module."""
    kept = vars(module).get("kept")
    if isinstance(kept, dict):
        module.kept = {key: one if one.requires_grad else one.double() for key, one in kept.items()}
