"""gradient.kinds.complex_replacement: A complex gradient takes a complex replacement; a real one ends backward() with RuntimeError.

Says which reading this torch has.
Checked by suites/gradient/test_complex.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch, "view_as_real"): raise SystemExit("torch " + torch.__version__ + " has no torch.view_as_real")


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


def example(subject, returned, inner):
    z = torch.tensor([1 + 2j], requires_grad=True)
    y = torch.ones(1, dtype=z.dtype) * z
    for value in returned:
        dtype = torch.float32 if isinstance(value, int) else z.dtype
        (y if inner else z).register_hook(lambda grad, value=value, dtype=dtype: torch.tensor([value], dtype=dtype))
    result = outcome(lambda: y.backward(torch.ones(1, dtype=z.dtype)))
    expected = subject.value if any(isinstance(value, int) for value in returned) else "accepted"
    assert (result, item(z.grad)) == (expected, [returned[-1]] if expected == "accepted" else None)


READINGS = {
    'real is refused (every torch): A real replacement of a complex gradient is refused, though it has the same shape.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=[1], inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
