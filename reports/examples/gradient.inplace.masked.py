"""gradient.inplace.masked: A hook on what relu_() then overwrites is given the gradient that relu_() masked.

Says which reading this torch has. Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
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

for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    print("torch", torch.__version__, "-", reading)
    break
else:
    raise SystemExit(f"torch {torch.__version__} has none of these readings")
