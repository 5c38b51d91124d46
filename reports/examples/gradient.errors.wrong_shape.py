"""gradient.errors.wrong_shape: A replacement of another shape ends backward() with RuntimeError, even if it would broadcast.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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


def example(subject, shape, returned, inner, observers):
    calls = []
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    y = 1 * x
    hooks = [lambda grad: calls.append("look")] * observers
    for hook in [*hooks, lambda grad: torch.full(returned, 5.0, dtype=torch.float64), *hooks]:
        (y if inner else x).register_hook(hook)
    result = outcome(lambda: y.backward(torch.ones(shape, dtype=torch.float64)))
    expected = "accepted" if returned == shape else subject.value
    grad = None if expected == "RuntimeError" else torch.full(shape, 5.0).tolist()
    looks = observers * (1 if expected == "RuntimeError" else 2)
    assert (result, len(calls), item(x.grad)) == (expected, looks, grad)


READINGS = {
    "refused (every torch): A replacement of any shape but the gradient's own is refused with RuntimeError.": 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shape=(2,), returned=(1,), inner=False, observers=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
