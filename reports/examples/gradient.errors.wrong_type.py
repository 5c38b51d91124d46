"""gradient.errors.wrong_type: A tensor hook that returns anything but a tensor or None ends backward() with TypeError.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, wrong, inner, before, had):
    calls = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    y = 1 * x
    for by in before:
        (y if inner else x).register_hook(lambda grad, by=by: grad * by)
    (y if inner else x).register_hook(lambda grad: (grad,) if wrong == "a tuple with the gradient" else wrong)
    (y if inner else x).register_hook(lambda grad: calls.append(grad.item()))
    expected = subject.value[0 if wrong else 1]
    grad = had if expected != "accepted" else prod(before) + (had or 0)
    seen = [float(prod(before))] if expected == "accepted" else []
    assert (outcome(y.backward), calls, item(x.grad)) == (expected, seen, grad)


READINGS = {
    'TypeError (every torch): Any value but a tensor or None from a tensor hook raises TypeError, whatever its truth value.': ('TypeError', 'TypeError'),
    'RuntimeError instead (torch >=1.5,<1.7, a declared deviation): A hook that returns anything but a tensor or None ends backward() with RuntimeError.': ('RuntimeError', 'RuntimeError'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), wrong=False, inner=False, before=[], had=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
