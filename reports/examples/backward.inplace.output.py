"""backward.inplace.output: With a full hook the caller cannot change the output in place: the change raises RuntimeError.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def ends(module, edit, grad = True):
    """Where it raises, and what, when the output of a module is edited and goes backward; or ("fine",)."""
    step = "forward"
    try:
        out = module(torch.ones(2, 2, requires_grad=grad) * 1)
        step = "edit"
        edit(out)
        step = "backward"
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    except RuntimeError as error:
        return step, type(error).__name__
    return ("fine",)


def hooked(module, kind = "full_backward"):
    """The module, with a backward hook that only looks."""
    getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


def example(subject):
    edits = (lambda out: out.mul_(2), lambda out: out[0].fill_(5), lambda out: out.view(-1).mul_(2))
    assert [ends(hooked(torch.nn.Linear(2, 2)), edit) for edit in edits] == subject.value


READINGS = {
    'at once (torch >=1.9): Whole, through an index, through a view.': [('edit', 'RuntimeError'), ('edit', 'RuntimeError'), ('edit', 'RuntimeError')],
    'late (torch <1.9): A warning; then backward() raises.': [('backward', 'RuntimeError'), ('backward', 'RuntimeError'), ('backward', 'RuntimeError')],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
