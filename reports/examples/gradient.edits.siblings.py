"""gradient.edits.siblings: Where a sum sends one gradient to several tensors, a change in a hook is seen by all reached later.

Says which reading this torch has.
Checked by suites/gradient/test_edits.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def edit(by):
    """A hook that multiplies its argument in place, and returns None."""
    return lambda grad: grad.mul_(by) and None


def example(subject, edits):
    tensors = [leaf(1) for _ in edits]
    for tensor, by in zip(tensors, edits):
        if by is not None:
            tensor.register_hook(edit(by))
    (2 * sum(tensors[1:], tensors[0])).backward()
    grad, expected = 2.0, {}
    for place in [*range(len(edits) - 1, 1, -1), 0, 1]:
        by = 1 if edits[place] is None else edits[place]
        expected[place] = grad * by
        grad = expected[place] if subject.value == "later ones" else grad
    assert {place: tensor.grad.item() for place, tensor in enumerate(tensors)} == expected


READINGS = {
    'if not yet accumulated (every torch): In (a + b) + c the hooks of c, a and b are reached in this order; each sees earlier in-place changes.': 'later ones',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), edits=[5, 2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
