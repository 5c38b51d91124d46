"""gradient.passes.double_backward: With create_graph autograd.grad differentiates what a hook of its input returns, and calls it again.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, x, power, factors):
    needs = []
    tensor = leaf(x)
    for by in factors:
        tensor.register_hook(lambda grad, by=by: needs.append(grad.requires_grad) or grad * by)
    product = tensor
    for _ in range(power - 1):
        product = product * tensor
    (first,) = torch.autograd.grad(product, [tensor], create_graph=True)
    (second,) = torch.autograd.grad(first, [tensor])
    by = prod(factors) if subject.value else 1
    called = [True] * len(factors) + [False] * len(factors) if subject.value else []
    slope, bend = power * x ** (power - 1) * by, power * (power - 1) * x ** (power - 2) * by * by
    assert (needs, first.item(), second.item()) == (called, slope, bend)


READINGS = {
    'hooks of inputs too (torch >=2.0): autograd.grad calls the hooks of its input in both passes and differentiates what they return.': True,
    'no hooks of inputs (torch <2.0): autograd.grad calls no hook of its input, with create_graph or without.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=2, power=3, factors=[2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
