"""gradient.errors.wrong_dtype: A replacement with another dtype or layout than the gradient ends backward() with RuntimeError.

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


def example(subject, dtype, returned, sparse, inner):
    x = torch.ones(2, dtype=getattr(torch, dtype), requires_grad=True)
    y = 1 * x
    other = torch.full((2,), 5.0, dtype=torch.float64)
    other = (other.to_sparse() if sparse else other).to(getattr(torch, returned))
    (y if inner else x).register_hook(lambda grad: other)
    result = outcome(lambda: y.backward(torch.ones(2, dtype=x.dtype)))
    expected = "accepted" if returned == dtype and not sparse else subject.value
    assert (result, item(x.grad)) == (expected, [5.0, 5.0] if expected == "accepted" else None)


READINGS = {
    "refused (every torch): A replacement of any dtype or layout but the gradient's own is refused with RuntimeError.": 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), dtype='float64', returned='float32', sparse=False, inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
