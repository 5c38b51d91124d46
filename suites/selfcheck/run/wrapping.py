"""Wrappers and faults that the tests of targets use; a plug-in of pytest that changes torch is one, too."""

import functools

import torch

FAULTS = ("order", "removed", "retained")


def identity(net):
    return net


def deaf(net):
    """A wrapper that skips the hooks of the network itself."""
    return net.forward


def break_torch(fault):
    """One fault of hooks in the installed torch."""
    if fault == "order":
        register = torch.Tensor.register_hook

        @functools.wraps(register)
        def first(self, hook):
            handle = register(self, hook)
            if self._backward_hooks is not None and len(self._backward_hooks) > 1:
                self._backward_hooks.move_to_end(handle.id, last=False)
            return handle

        torch.Tensor.register_hook = first
    elif fault == "removed":
        torch.utils.hooks.RemovableHandle.remove = lambda self: None
    else:
        retain = torch.Tensor.retain_grad
        torch.Tensor.retain_grad = lambda self: None if self.dim() == 0 else retain(self)
