"""gradient.undefined.no_replacement: A tensor that a hook returns for an undefined gradient ends backward() with RuntimeError.

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


def example(subject, uses, replaced, observers):
    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, changed in zip(tensors, replaced):
        for _ in range(observers):
            tensor.register_hook(lambda grad: None)
        if changed:
            tensor.register_hook(lambda grad: torch.tensor(7.0, dtype=torch.float64))
    result = outcome(sum(by * tensor for by, tensor in zip(uses, tensors) if by).backward)
    if any(changed and not by for by, changed in zip(uses, replaced)):
        expected = subject.value
    else:
        expected = "accepted"
    grad = [7 if changed else by for by, changed in zip(uses, replaced)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


READINGS = {
    'refused (every torch): An undefined gradient cannot be replaced: a hook that returns a tensor for it ends backward().': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[2, 0], replaced=[False, True], observers=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
