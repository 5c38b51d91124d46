"""gradient.edits.own_gradient: An in-place change of the gradient in a hook that returns None acts like a replacement.

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


def replace(by):
    """A hook that returns the product instead."""
    return lambda grad: grad * by


def example(subject, hooks, inner, create_graph):
    x = leaf(1)
    y = 1 * x
    for how, by in hooks:
        (y if inner else x).register_hook(edit(by) if how == "edit" else replace(by))
    torch.autograd.backward([2 * y], create_graph=create_graph)
    grad, x.grad = x.grad.item(), None
    assert grad == 2 * prod(by for how, by in hooks if how == "replace" or subject.value)


READINGS = {
    'changed (every torch): A hook that changes its gradient in place acts as if it had returned the result.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('edit', 5)], inner=False, create_graph=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
