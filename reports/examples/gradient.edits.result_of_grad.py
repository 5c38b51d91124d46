"""gradient.edits.result_of_grad: An in-place change in the hook of an input of autograd.grad is in the result.

Says which reading this torch has.
Checked by suites/gradient/test_edits.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def edit(by):
    """A hook that multiplies its argument in place, and returns None."""
    return lambda grad: grad.mul_(by) and None


def example(subject, edits, inner, first):
    x = leaf(1)
    wanted = 3 * x if inner else x
    for by in edits:
        wanted.register_hook(edit(by))
    (grad,) = torch.autograd.grad(first * wanted, [wanted])
    assert grad.item() == first * (prod(edits) if subject.value else 1)


READINGS = {
    'in the result (torch >=2.0): autograd.grad returns what the in-place hooks of its inputs, leaves or not, have made of the gradient.': True,
    'the hook is not called (torch <2.0): autograd.grad calls no hook of its inputs: the gradient is returned as it came.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edits=[5], inner=True, first=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
