"""gradient.asked.root: autograd.grad of a tensor with respect to itself calls its hooks and returns what they leave.

Says which reading this torch has.
Checked by suites/gradient/test_asked.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, factors, first):
    seen = []
    y = 3 * leaf(1)
    for by in factors:
        y.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    (grad,) = torch.autograd.grad([y], [y], [leaf(first).detach()])
    called, counts = subject.value
    row = [first * prod(factors[:place]) for place in range(len(factors))]
    assert (seen, grad.item()) == (row if called else [], first * (prod(factors) if counts else 1))


READINGS = {
    'called (torch >=2.0): autograd.grad of a tensor with respect to itself returns what its hooks leave.': (True, True),
    'called in vain (torch >=1.8,<1.9): autograd.grad of a tensor with respect to itself calls its hooks and ignores what they return.': (True, False),
    'not called (torch <2.0): autograd.grad of a tensor with respect to itself calls none of its hooks.': (False, False),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[10], first=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
