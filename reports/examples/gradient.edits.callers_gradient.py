"""gradient.edits.callers_gradient: An in-place change in the hook of the root changes the tensor that was passed to backward().

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


def example(subject, edits, inner, first, passes):
    x = leaf(1)
    root = 2 * x if inner else x
    for by in edits:
        root.register_hook(edit(by))
    gradient, start, total = leaf(first).detach(), float(first), 0.0
    for _ in range(passes):
        root.backward(gradient, retain_graph=True)
        total += start * prod(edits) * (2 if inner else 1)
        start *= prod(edits) if subject.value else 1
        assert (gradient.item(), x.grad.item()) == (start, total)


READINGS = {
    "changed (every torch): The next pass with the tensor that was passed to backward() begins with what a root's hook made of it.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edits=[5], inner=True, first=1, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
