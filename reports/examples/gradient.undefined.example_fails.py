"""gradient.undefined.example_fails: The documentation's own hook, grad * 2, ends backward() with TypeError on an unused output.

Says which reading this torch has.
Checked by suites/gradient/test_no_gradient.py of torch-hook-conformance.
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


def example(subject, uses, hooked):
    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, doubled in zip(tensors, hooked):
        if doubled:
            tensor.register_hook(lambda grad: grad * 2)
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    result = outcome(root.backward)
    expected = subject.value if any(doubled and not by for by, doubled in zip(uses, hooked)) else "accepted"
    grad = [by * 2 if doubled else by for by, doubled in zip(uses, hooked)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


READINGS = {
    "TypeError (every torch): The documentation's hook, grad * 2, raises TypeError on an unused output: it is given None.": 'TypeError',
    "RuntimeError instead (torch >=1.5,<1.7, a declared deviation): The documentation's own hook, grad * 2, ends backward() with RuntimeError on an unused output.": 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[2, 0], hooked=[False, True, False, False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
