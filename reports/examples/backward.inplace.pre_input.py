"""backward.inplace.pre_input: A module with a pre-hook alone cannot change an input in place that needs a gradient either.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_pre_hook")


def hooked(module, hooks = 1, kind = "full_backward"):
    """The module, with backward hooks that only look."""
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


def module_of(function):
    """A module without parameters."""
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    return Module()


EDITS = {
    "scaled": lambda out: out.mul_(2),
    "shifted": lambda out: out.add_(1),
    "zeroed": lambda out: out.zero_(),
    "copied": lambda out: out.copy_(out.detach() * 2),
    "a row": lambda out: out[0].fill_(5),
    "a view": lambda out: out.view(-1).mul_(2),
}


def changing(edit):
    """A module that changes its input in place and returns something made from it."""

    def function(x):
        EDITS[edit](x)
        return x * 3

    return module_of(function)


VIEW = "RuntimeError: a view"


def ends(module, edit, grad = True, which = 0):
    """Where it raises, and what, when an output of a module is edited and goes backward; or ("fine",).

    An error that speaks of a change of a view is told from others.
    """
    step = "forward"
    try:
        out = module(torch.ones(2, 2, requires_grad=grad) * 1)
        out = out[which] if isinstance(out, tuple) else out
        step = "edit"
        edit(out)
        step = "backward"
        if out.requires_grad:
            out.sum().backward()
    except RuntimeError as error:
        return step, VIEW if "is a view" in str(error) else "RuntimeError"
    return ("fine",)


def nothing(out):
    """Leave the output as it is."""


def example(subject, edit, hooks, grad):
    module = hooked(changing(edit), hooks, "full_backward_pre")
    assert ends(module, nothing, grad) == (subject.value if grad else ("fine",))


READINGS = {
    'refused (every torch): With a pre-hook the in-place change of an input raises RuntimeError.': ('forward', 'RuntimeError: a view'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edit='scaled', hooks=1, grad=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
