"""gradient.inplace.leaf_becomes_inner: The hooks of a leaf are not called once an in-place change has made it an inner tensor.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def example(subject, hooks, by):
    seen = []
    y = leaf(1)
    for number in range(hooks):
        y.register_hook(noting(seen, str(number)))
    y.requires_grad_(False)
    y.mul_(leaf(by))
    (2 * y).backward()
    listed = y._backward_hooks
    assert (seen, None if listed is None else len(listed)) == ([], hooks if subject.value else None)


READINGS = {
    'forgotten (torch >=2.0): A leaf that an in-place change makes an inner tensor forgets its hooks: `_backward_hooks` is None.': False,
    'listed, not called (torch <2.0): A leaf that an in-place change makes an inner tensor lists its hooks, and does not call them.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, by=3)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
