"""retain.keep.attribute: retains_grad is True once retain_grad() was called on an inner tensor, and False otherwise.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, calls, detached):
    x = leaf(1)
    y = 2 * x
    tensors = [x, y, 3 * y, 1 * x, leaf(1).detach()]
    kept = set()
    for place in [None, *calls]:
        if place is not None:
            tensors[place].retain_grad()
            kept |= {place} - {0}
        seen = [getattr(tensor, "retains_grad", "absent") for tensor in tensors]
        assert seen == [True if at in kept else subject.value for at in range(len(tensors))]
    for place in detached:
        tensors[place].detach_()
    assert [getattr(tensor, "retains_grad", "absent") for tensor in tensors] == seen


READINGS = {
    'always there (torch >=1.10): Every tensor has retains_grad, also before retain_grad().': False,
    'only when kept (torch <1.10): Only an inner tensor has retains_grad, and only after retain_grad(): reading it elsewhere raises.': 'absent',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), calls=[0], detached=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
