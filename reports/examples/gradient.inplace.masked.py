"""gradient.inplace.masked: A hook on what relu_() then overwrites is given the gradient that relu_() masked.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def example(subject):
    seen = []
    y = 1 * torch.tensor([1.0, -1.0], requires_grad=True)
    y.register_hook(noting(seen, "y"))
    torch.relu_(y)
    (3 * y).sum().backward()
    assert seen == subject.value


READINGS = {
    'masked (every torch): 3 where the value was positive, else 0.': [('y', [3.0, 0.0])],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
