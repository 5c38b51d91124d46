"""gradient.edits.expanded: An in-place change of an expanded gradient, as sum() sends it, ends backward() with RuntimeError.

Says which reading this torch has.
Checked by suites/gradient/test_edits.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def edit(by):
    """A hook that multiplies its argument in place, and returns None."""
    return lambda grad: grad.mul_(by) and None


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, shape, by, before):
    calls = []
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    for _ in range(before):
        x.register_hook(calls.append)
    x.register_hook(edit(by))
    result = outcome(x.sum().backward)
    # One element shares its place with nobody.
    expected = subject.value if prod(shape) > 1 else "accepted"
    grad = None if expected == "RuntimeError" else torch.full(shape, float(by)).tolist()
    assert (len(calls), result, item(x.grad)) == (before, expected, grad)


READINGS = {
    'raises (every torch): A hook that changes in place a gradient whose elements share memory ends backward() with RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shape=[2], by=5, before=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
