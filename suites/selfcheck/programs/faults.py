"""Some faults of torch that show in ordinary layers and training loops: what the chapter `programs` must reject."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from torch import nn
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
