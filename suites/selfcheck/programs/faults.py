"""Faults of torch that show in ordinary layers and training loops. They were written before the drawing was tuned."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.nn.utils.parametrize import ParametrizationList
from torch.optim import Optimizer
from torch.utils import hooks

FAULTS: dict[str, Callable[[], Any]] = {}
CALL = nn.Module._call_impl


def fault(function: Any) -> Any:
    FAULTS[function.__name__] = contextlib.contextmanager(function)
    return function


def unhooked(when: Callable[[Any], bool]) -> Any:
    """Modules are called without their hooks where something is so."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs) if when(self) else CALL(self, *args, **kwargs)

    return mock.patch.object(nn.Module, "_call_impl", call)


def after(owner: Any, name: str, then: Callable[..., None]) -> Any:
    """Something more is done behind a method."""
    right = getattr(owner, name)

    def wrong(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = right(self, *args, **kwargs)
        then(self)
        return result

    return mock.patch.object(owner, name, wrong)


def in_backward() -> bool:
    return torch._C._current_graph_task_id() != -1


# --- layers ---


@fault
def sequential_last() -> Iterator[None]:
    """nn.Sequential calls the forward of its last module."""

    def forward(self: Any, x: Any) -> Any:
        *most, last = self
        for one in most:
            x = one(x)
        return last.forward(x)

    with mock.patch.object(nn.Sequential, "forward", forward):
        yield


@fault
def feed_forward() -> Iterator[None]:
    """An encoder layer calls the forward of its second linear layer."""

    def block(self: Any, x: Any) -> Any:
        return self.dropout2(self.linear2.forward(self.dropout(self.activation(self.linear1(x)))))

    with mock.patch.object(nn.TransformerEncoderLayer, "_ff_block", block):
        yield


@fault
def attention_in_eval() -> Iterator[None]:
    """In eval the hooks of attention are not called."""
    with unhooked(lambda one: isinstance(one, nn.MultiheadAttention) and not one.training):
        yield


@fault
def recurrent_output() -> Iterator[None]:
    """A forward hook of a recurrent layer is given the first output only."""
    right = nn.Module.register_forward_hook

    def register(self: Any, hook: Any, **options: Any) -> Any:
        plain = isinstance(self, nn.RNNBase) and not options.get("with_kwargs")
        return right(self, (lambda m, args, out: hook(m, args, out[0])) if plain else hook, **options)

    with mock.patch.object(nn.Module, "register_forward_hook", register):
        yield


@fault
def dropout_in_eval() -> Iterator[None]:
    """In eval the hooks of dropout are not called."""
    with unhooked(lambda one: isinstance(one, nn.modules.dropout._DropoutNd) and not one.training):
        yield


@fault
def in_place_result() -> Iterator[None]:
    """What a forward hook of an activation in place returns is dropped."""
    right = nn.Module.register_forward_hook

    def register(self: Any, hook: Any, **options: Any) -> Any:
        def silent(*given: Any) -> None:
            hook(*given)

        return right(self, silent if getattr(self, "inplace", False) else hook, **options)

    with mock.patch.object(nn.Module, "register_forward_hook", register):
        yield


@fault
def parametrizations() -> Iterator[None]:
    """The hooks of parametrizations are not called."""
    with unhooked(lambda one: isinstance(one, ParametrizationList)):
        yield


@fault
def convolution_twice() -> Iterator[None]:
    """The first pre-hook of a convolution is called twice."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, nn.modules.conv._ConvNd) and self._forward_pre_hooks:
            key, hook = next(iter(self._forward_pre_hooks.items()))
            if key not in self._forward_pre_hooks_with_kwargs:
                hook(self, args)
        return CALL(self, *args, **kwargs)

    with mock.patch.object(nn.Module, "_call_impl", call):
        yield


@fault
def norm_gradients() -> Iterator[None]:
    """Full backward hooks of batch norm are given zeros in place of grad_output."""
    right = nn.Module.register_full_backward_hook

    def register(self: Any, hook: Any, **options: Any) -> Any:
        def wrong(m: Any, grad_input: Any, grad_output: Any) -> Any:
            zeros = tuple(None if one is None else one * 0 for one in grad_output)
            return hook(m, grad_input, zeros)

        return right(self, wrong if isinstance(self, nn.modules.batchnorm._BatchNorm) else hook, **options)

    with mock.patch.object(nn.Module, "register_full_backward_hook", register):
        yield


@fault
def without_inputs_twice() -> Iterator[None]:
    """Full backward hooks are called twice where no input needs a gradient."""
    right = hooks.BackwardHook.setup_input_hook

    def setup(self: Any, args: Any) -> Any:
        result = right(self, args)
        if self.input_tensors_index is None:
            self.user_hooks = [*self.user_hooks, *self.user_hooks]
        return result

    with mock.patch.object(hooks.BackwardHook, "setup_input_hook", setup):
        yield


# --- loops ---


@fault
def conversion_drops() -> Iterator[None]:
    """Conversion to another dtype drops the hooks of parameters."""
    right = nn.Module._apply

    def apply(self: Any, function: Any, *more: Any, **options: Any) -> Any:
        before = [(one, one.dtype) for one in self._parameters.values() if one is not None]
        result = right(self, function, *more, **options)
        for one, dtype in before:
            if one.dtype != dtype and one._backward_hooks:
                one._backward_hooks.clear()
        return result

    with mock.patch.object(nn.Module, "_apply", apply):
        yield


@fault
def zero_grad_drops() -> Iterator[None]:
    """zero_grad() of an optimizer drops post-accumulate hooks."""

    def drop(self: Any) -> None:
        for group in self.param_groups:
            for one in group["params"]:
                if one._post_accumulate_grad_hooks:
                    one._post_accumulate_grad_hooks.clear()

    with after(Optimizer, "zero_grad", drop):
        yield


@fault
def load_drops() -> Iterator[None]:
    """load_state_dict() drops the pre-hooks of modules with buffers."""
    right = nn.Module._load_from_state_dict

    def load(self: Any, *args: Any) -> None:
        right(self, *args)
        if self._buffers:
            self._forward_pre_hooks.clear()

    with mock.patch.object(nn.Module, "_load_from_state_dict", load):
        yield


@fault
def copy_drops() -> Iterator[None]:
    """A deep copy has no pre-hooks."""
    right = nn.Module.__getstate__

    def state(self: Any) -> Any:
        found = right(self)
        found["_forward_pre_hooks"] = type(self._forward_pre_hooks)()
        return found

    with mock.patch.object(nn.Module, "__getstate__", state):
        yield


@fault
def eval_drops() -> Iterator[None]:
    """eval() drops backward hooks."""
    right = nn.Module.train

    def train(self: Any, mode: bool = True) -> Any:
        if not mode:
            self._backward_hooks.clear()
        return right(self, mode)

    with mock.patch.object(nn.Module, "train", train):
        yield


@fault
def other_threads() -> Iterator[None]:
    """In other threads than the main one hooks are not called."""
    with unhooked(lambda one: threading.current_thread() is not threading.main_thread()):
        yield


@fault
def functional() -> Iterator[None]:
    """functional_call() does not call the hooks of the module that it is given."""
    from torch.nn.utils import stateless

    right = stateless._functional_call

    def call(module: Any, *args: Any, **kwargs: Any) -> Any:
        with unhooked(lambda one: one is module):
            return right(module, *args, **kwargs)

    with mock.patch.object(stateless, "_functional_call", call):
        yield


@fault
def result_in_double_backward() -> Iterator[None]:
    """What a tensor hook returns is dropped where a graph of the gradient is made."""
    right = torch.Tensor.register_hook

    def register(self: Any, hook: Any) -> Any:
        def wrong(grad: Any) -> Any:
            result = hook(grad)
            return None if torch.is_grad_enabled() else result

        return right(self, wrong)

    with mock.patch.object(torch.Tensor, "register_hook", register):
        yield


@fault
def step_post_too_early() -> Iterator[None]:
    """Post-hooks of Adam are called before the step."""
    with mock.patch.object(torch.optim.Adam, "register_step_post_hook", Optimizer.register_step_pre_hook):
        yield


@fault
def recomputation() -> Iterator[None]:
    """Hooks are not called when a checkpoint computes again."""
    with unhooked(lambda one: in_backward()):
        yield


@fault
def keyword_result() -> Iterator[None]:
    """A pre-hook that is given keyword arguments may not replace them where there are no others."""
    right = nn.Module.register_forward_pre_hook

    def register(self: Any, hook: Any, **options: Any) -> Any:
        def wrong(m: Any, args: Any, kwargs: Any) -> Any:
            result = hook(m, args, kwargs)
            return result if result is None or args else (args, kwargs)

        return right(self, wrong if options.get("with_kwargs") else hook, **options)

    with mock.patch.object(nn.Module, "register_forward_pre_hook", register):
        yield


@fault
def slice_drops() -> Iterator[None]:
    """A slice of nn.Sequential has modules without forward hooks."""
    right = nn.Sequential.__getitem__

    def item(self: Any, index: Any) -> Any:
        found = right(self, index)
        if isinstance(index, slice):
            for one in found:
                one._forward_hooks.clear()
        return found

    with mock.patch.object(nn.Sequential, "__getitem__", item):
        yield


@fault
def prefix_of_parent() -> Iterator[None]:
    """A state_dict post-hook of a nested module is given the prefix of its parent."""
    right = nn.Module.register_state_dict_post_hook

    def register(self: Any, hook: Any) -> Any:
        def wrong(m: Any, state: Any, prefix: str, metadata: Any) -> None:
            hook(m, state, ".".join(prefix.split(".")[:-2]) + "." if prefix.count(".") > 1 else prefix, metadata)

        return right(self, wrong)

    with mock.patch.object(nn.Module, "register_state_dict_post_hook", register):
        yield


@fault
def always_after_runtime_errors() -> Iterator[None]:
    """After an error other than RuntimeError always_call hooks are not called."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        def forward(*given: Any, **named: Any) -> Any:
            try:
                return right(*given, **named)
            except RuntimeError:
                raise
            except Exception:
                for one in (self._forward_hooks_always_called, modules._global_forward_hooks_always_called):
                    kept.append((one, dict(one)))
                    one.clear()
                raise

        if not self._forward_hooks_always_called and not modules._global_forward_hooks_always_called:
            return CALL(self, *args, **kwargs)
        kept: list[Any] = []
        right, self.forward = self.forward, forward
        try:
            return CALL(self, *args, **kwargs)
        finally:
            del self.forward
            for one, before in kept:
                one.update(before)

    with mock.patch.object(nn.Module, "_call_impl", call):
        yield


@fault
def freezing_drops() -> Iterator[None]:
    """requires_grad_(False) drops the full backward hooks of a module."""
    right = nn.Module.requires_grad_

    def freeze(self: Any, requires_grad: bool = True) -> Any:
        if not requires_grad:
            self._backward_hooks.clear()
        return right(self, requires_grad)

    with mock.patch.object(nn.Module, "requires_grad_", freeze):
        yield
