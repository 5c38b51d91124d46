"""gradient.edits.kept_gradient: retain_grad() keeps a copy of the gradient that in-place hooks changed, whichever came first.

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


KEPT = {
    "all": lambda edits, place: edits,
    "all or none": lambda edits, place: edits if place else [],
    "earlier ones": lambda edits, place: edits[:place],
}


def example(subject, piles, upstream):
    for edits, place in piles:
        x = leaf(1)
        y = x.view(())
        for number, by in enumerate(edits):
            if number == place:
                y.retain_grad()
            y.register_hook(edit(by))
        if place >= len(edits):
            y.retain_grad()
        x.register_hook(edit(upstream))
        (2 * y).backward()
        kept = KEPT[subject.value](edits, place)
        assert (y.grad.item(), x.grad.item()) == (2 * prod(kept), 2 * prod(edits) * upstream)


READINGS = {
    'what all hooks left (torch >=2.0): retain_grad() keeps what all in-place hooks of the tensor left, in memory of its own.': 'all',
    'none if it came first (torch >=1.10,<2.0): retain_grad() keeps what all in-place hooks left, or what came if it was called before them all.': 'all or none',
    'in its turn (torch <1.10): retain_grad() is one of the hooks: it keeps what the in-place hooks before it left.': 'earlier ones',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), piles=[([2, 3], 1), ([2], 0)], upstream=5)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
