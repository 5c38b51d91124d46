"""backward.inplace.input: A hooked module cannot change its input in place, and none can change a hooked module's output.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def hooked(module, kind = "full_backward"):
    """The module, with a backward hook that only looks."""
    getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    return module


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


def nothing(out):
    """Leave the output as it is."""


def example(subject):
    class AddOne(torch.nn.Module):
        def forward(self, x):
            return x.add_(1)

    line, relu, chain = torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True), torch.nn.Sequential
    modules = (
        hooked(AddOne()),
        hooked(torch.nn.ReLU(inplace=True)),
        hooked(chain(relu, line)),
        chain(hooked(line), relu),
    )
    assert [ends(module, nothing) for module in modules] == subject.value


READINGS = {
    'refused (torch >=1.9): RuntimeError in the forward.': [('forward', 'RuntimeError'), ('forward', 'RuntimeError'), ('forward', 'RuntimeError'), ('forward', 'RuntimeError')],
    'accepted (torch <1.9): A warning; only behind a hooked layer backward() raises.': [('fine',), ('fine',), ('fine',), ('backward', 'RuntimeError')],
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
