"""retain.modules.unused_output: retain_grad() on an unused output of a node that runs leaves its .grad None.

Says which reading this torch has.
Checked by suites/retain/test_modules.py of torch-hook-conformance.
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


def example(subject, uses, kept):
    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, keep in zip(tensors, kept):
        if keep:
            tensor.retain_grad()
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    result = outcome(root.backward, (RuntimeError, AttributeError, TypeError))
    # In the deviations the value is an error, which comes where an unused output is to be kept.
    fails = isinstance(subject.value, str) and any(keep and not by for by, keep in zip(uses, kept))
    assert (result, item(x.grad)) == ((subject.value, None) if fails else ("accepted", uses))
    if not fails:
        grads = [item(tensor.grad) for tensor, keep in zip(tensors, kept) if keep]
        assert grads == [by or subject.value for by, keep in zip(uses, kept) if keep]


READINGS = {
    'None for unused ones (every torch): An unused output of a node that runs keeps no gradient: its .grad stays None.': None,
    'AttributeError (torch <1.5, a declared deviation): backward() raises AttributeError where an unused output of a node that runs is to keep its gradient.': 'AttributeError',
    'RuntimeError, its type lost (torch >=1.5,<1.7, a declared deviation): backward() raises RuntimeError where an unused output of a node that runs is to keep its gradient.': 'RuntimeError',
    'AttributeError again (torch >=1.7,<1.10, a declared deviation): backward() raises AttributeError where an unused output of a node that runs is to keep its gradient.': 'AttributeError',
    'RuntimeError (torch >=1.10,<2.0, a declared deviation): backward() raises RuntimeError where an unused output of a node that runs is to keep its gradient.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[2, 0], kept=[False, True, False, False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
