"""gradient.copies.deepcopy: deepcopy of a hooked leaf or parameter drops the hooks without a warning; the original keeps them.

Says which reading this torch has.
Checked by suites/gradient/test_copies.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def made(kind):
    """A scalar tensor with the value 1: a leaf, an inner tensor or a parameter."""
    if kind == "parameter":
        return torch.nn.Parameter(leaf(1).detach())
    return 1 * leaf(1) if kind == "inner" else leaf(1)


def hooked(kind, factors):
    """Such a tensor with a hook for each factor."""
    tensor = made(kind)
    for by in factors:
        tensor.register_hook(lambda grad, by=by: grad * by)
    return tensor


def told(action):
    """What `action` returns, and the UserWarnings it gave, by their first words."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    about = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return result, [text[:13] for text in about]


def example(subject, make, factors, copies):
    import copy

    original = hooked(make, factors)
    copied, warned = original, []
    for _ in range(copies):
        copied, told_now = told(lambda copied=copied: copy.deepcopy(copied))
        warned += told_now
    for tensor in (copied, original):
        tensor.backward()
    grads = (copied.grad.item(), original.grad.item())
    assert (warned, *grads) == ([], prod(factors) if subject.value else 1, prod(factors))


READINGS = {
    'dropped (every torch): A deepcopy of a hooked leaf has no hook and gives no warning, nor has a copy of the copy.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), make='leaf', factors=[10], copies=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
