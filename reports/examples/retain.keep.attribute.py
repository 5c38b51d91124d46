"""retain.keep.attribute: Every tensor has retains_grad: True for an inner tensor whose gradient is kept, else False.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, calls):
    x = leaf(1)
    y = 2 * x
    tensors = [x, y, 3 * y, 1 * x]
    kept = set()
    for place in [None, *calls]:
        if place is not None:
            tensors[place].retain_grad()
            kept |= {place} - {0}
        seen = [getattr(tensor, "retains_grad", "absent") for tensor in tensors]
        assert seen == [True if at in kept else subject.value for at in range(len(tensors))]


READINGS = {
    'always there (torch >=1.10): Before the call, and on a leaf, it is False.': False,
    'only when kept (torch <1.10): There is no such attribute before the call, nor on leaves.': 'absent',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), calls=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
