"""gradient.inplace.masked: A hook on what relu_() then overwrites is given the gradient that relu_() has masked.

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


def example(subject, values, by, hooks):
    seen = []
    x = torch.tensor([float(value) for value in values], requires_grad=True)
    y = 1 * x
    for number in range(hooks):
        y.register_hook(noting(seen, str(number)))
    torch.relu_(y)
    (by * y).sum().backward()
    masked = [float(by) if value > 0 else 0.0 for value in values]
    given_gradient = masked if subject.value else [float(by)] * len(values)
    assert seen == [(str(number), given_gradient) for number in range(hooks)]
    assert x.grad.tolist() == masked


READINGS = {
    'masked (every torch): A hook on what relu_() then overwrites is given the gradient where the value was positive, else 0.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), values=[1, -1], by=3, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
