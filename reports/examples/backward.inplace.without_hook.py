"""backward.inplace.without_hook: Without a hook the output of a module may be changed in place, if its operation does not need it.

Says which reading this torch has.
Checked by suites/backward/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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
    line, relu = torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True)
    assert [ends(line, lambda out: out.mul_(2)), ends(relu, nothing)] == subject.value


READINGS = {
    'allowed (every torch): Output and input.': [('fine',), ('fine',)],
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
