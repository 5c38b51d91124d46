"""retain.versions.detached: detach_() leaves retains_grad True, on what is now a leaf that requires no gradient.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, row):
    tensors = [leaf(1)]
    for keep in row:
        tensors.append(2 * tensors[-1])
        if keep:
            tensors[-1].retain_grad()
    for y, keep in zip(tensors[1:], row):
        y.detach_()
        # Before 1.10 there is no such attribute where nothing was kept.
        retains = getattr(y, "retains_grad", False)
        assert (y.is_leaf, y.requires_grad, retains) == (True, False, keep and subject.value)


READINGS = {
    'stays True (every torch): detach_() leaves retains_grad True, on what is now a leaf that requires no gradient.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
