"""Faults that modes of torch.compile show."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch._dynamo import config as dynamo

from suites.selfcheck.faults.base import swap
from suites.selfcheck.faults.of_modes.registry import fault


@fault("compiled")
def nothing_is_compiled(stack: ExitStack) -> None:
    swap(stack, torch, "compile", lambda module, backend: module)


@fault("compiled")
def hooks_are_guarded(stack: ExitStack) -> None:
    """A hook that a module gets later compiles the call anew."""
    stack.enter_context(dynamo.patch(skip_nnmodule_hook_guards=False))


@fault("compiled")
def the_wrapper_has_no_hooks(stack: ExitStack) -> None:
    called = torch._dynamo.eval_frame.OptimizedModule
    swap(stack, called, "__call__", lambda self, *xs, **kwargs: self.forward(*xs, **kwargs))


@fault("compiled")
def the_network_has_no_hooks(stack: ExitStack) -> None:
    original: Any = torch.compile
    swap(stack, torch, "compile", lambda module, backend: original(module.forward, backend=backend))


@fault("late")
def late_hooks_are_guarded(stack: ExitStack) -> None:
    hooks_are_guarded(stack)


@fault("late")
def a_late_hook_of_the_network_is_ignored(stack: ExitStack) -> None:
    the_network_has_no_hooks(stack)


@fault("aot")
def no_backward_is_traced(stack: ExitStack) -> None:
    original: Any = torch.compile
    swap(stack, torch, "compile", lambda module, backend: original(module, backend="eager"))


@fault("in_place")
def the_network_is_not_compiled(stack: ExitStack) -> None:
    swap(stack, torch.nn.Module, "compile", lambda self, backend: None)
