"""backward.inplace.output_of_two: None of several outputs of a hooked module can be changed in place: the change raises RuntimeError.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def module_of(function):
    """A module without parameters."""
    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    return Module()


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


def hooked(module, hooks = 1, kind = "full_backward"):
    """The module, with backward hooks that only look."""
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


EDITS = {
    "scaled": lambda out: out.mul_(2),
    "shifted": lambda out: out.add_(1),
    "zeroed": lambda out: out.zero_(),
    "copied": lambda out: out.copy_(out.detach() * 2),
    "a row": lambda out: out[0].fill_(5),
    "a view": lambda out: out.view(-1).mul_(2),
}


def example(subject, edit, hooks, count, which):
    module = module_of(lambda x: tuple((number + 2) * x for number in range(count)))
    assert ends(hooked(module, hooks), EDITS[edit], which=which % count) == subject.value


READINGS = {
    'refused (every torch): Each of several outputs is refused at the change.': ('edit', 'RuntimeError: a view'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edit='scaled', hooks=1, count=2, which=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
