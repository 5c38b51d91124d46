"""gradient.kinds.real_in_complex: The hook of a real tensor in a complex calculation is given a real gradient.

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


def example(subject, w, first):
    seen = []
    x = torch.tensor([3.0], requires_grad=True)
    y = x * torch.tensor([w])
    x.register_hook(lambda grad: seen.append((str(grad.dtype), grad.tolist())))
    result = outcome(lambda: y.backward(torch.tensor([first], dtype=y.dtype)))
    grad = [(first * w.conjugate()).real]
    expected = ("accepted", [("torch.float32", grad)], grad) if subject.value == "real" else (subject.value, [], None)
    assert (result, seen, item(x.grad)) == expected


READINGS = {
    'real (torch >=1.7): A real tensor in a complex calculation is given the real part of the complex gradient.': 'real',
    'refused (torch <1.7): A real tensor in a complex calculation ends backward() with RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), w=(1+2j), first=(1+1j))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
