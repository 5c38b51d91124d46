"""Wrappers and faults that the tests of targets use."""

import functools
from typing import Any

import torch


def identity(net: Any) -> Any:
    return net


def deaf(net: Any) -> Any:
    """A wrapper that skips the hooks of the network itself."""
    return net.forward


def break_torch(fault: str) -> None:
    """One fault of hooks in the installed torch."""
    if fault == "order":
        register = torch.nn.Module.register_forward_hook

        @functools.wraps(register)
        def first(self: Any, hook: Any, *, prepend: bool = True, **options: Any) -> Any:
            return register(self, hook, prepend=prepend, **options)

        torch.nn.Module.register_forward_hook = first  # type: ignore[method-assign]
    elif fault == "removed":
        torch.utils.hooks.RemovableHandle.remove = lambda self: None  # type: ignore[method-assign]
    else:
        retain = torch.Tensor.retain_grad
        torch.Tensor.retain_grad = lambda self: None if self.dim() == 0 else retain(self)  # type: ignore[assignment]
