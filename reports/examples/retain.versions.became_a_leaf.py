"""retain.versions.became_a_leaf: A tensor that keeps its gradient and becomes a leaf by detach_() adds it to .grad once a pass.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, by, passes):
    y = 3 * leaf(1)
    y.retain_grad()
    y.detach_()
    y.requires_grad_()
    for _ in range(passes):
        (by * y).backward()
    assert y.grad.item() == subject.value * by * passes


READINGS = {
    'once (every torch): A tensor that keeps its gradient and becomes a leaf by detach_() adds it to .grad once a pass.': 1,
    'twice (torch <2.0, a declared deviation): A tensor that keeps its gradient and becomes a leaf by detach_() adds it to .grad twice a pass.': 2,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), by=2, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
