"""backward.inplace.without_hook: Without a hook the output of a module may be changed in place, if its operation does not need it.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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


EDITS = {
    "scaled": lambda out: out.mul_(2),
    "shifted": lambda out: out.add_(1),
    "zeroed": lambda out: out.zero_(),
    "copied": lambda out: out.copy_(out.detach() * 2),
    "a row": lambda out: out[0].fill_(5),
    "a view": lambda out: out.view(-1).mul_(2),
}


def module_of(function):
    """A module without parameters."""
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    return Module()


def changing(edit):
    """A module that changes its input in place and returns something made from it."""

    def function(x):
        EDITS[edit](x)
        return x * 3

    return module_of(function)


def example(subject, edit):
    seen = [ends(torch.nn.Linear(2, 2), EDITS[edit]), ends(changing(edit), nothing)]
    assert seen == [(subject.value,), ("fine",)]


READINGS = {
    'allowed (every torch): Modules without hooks may change inputs, and their outputs be changed.': 'fine',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edit='scaled')
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
