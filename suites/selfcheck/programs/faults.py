"""Some faults of torch that show in ordinary layers and training loops: what the chapter `programs` must reject."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.nn.utils.parametrize import ParametrizationList
from torch.optim import Optimizer

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


def in_backward() -> bool:
    return torch._C._current_graph_task_id() != -1


@fault
def sequential_last() -> Iterator[None]:
    """nn.Sequential calls the forward of its last module."""

    def forward(self: Any, x: Any) -> Any:
        *most, last = self.children()
        for one in most:
            x = one(x)
        return last.forward(x)

    with mock.patch.object(nn.Sequential, "forward", forward):
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
def parametrizations() -> Iterator[None]:
    """The hooks of parametrizations are not called."""
    with unhooked(lambda one: isinstance(one, ParametrizationList)):
        yield


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
def other_threads() -> Iterator[None]:
    """In other threads than the main one hooks are not called."""
    with unhooked(lambda one: threading.current_thread() is not threading.main_thread()):
        yield


@fault
def step_post_too_early() -> Iterator[None]:
    """Post-hooks of an optimizer are called before the step."""
    with mock.patch.object(Optimizer, "register_step_post_hook", Optimizer.register_step_pre_hook):
        yield


@fault
def recomputation() -> Iterator[None]:
    """Hooks are not called when a checkpoint computes again."""
    with unhooked(lambda one: in_backward()):
        yield
