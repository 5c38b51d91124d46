"""retain.versions.view: A view keeps the gradient of its own uses; what its base keeps has these and the base's own.

Says which reading this torch has.
Checked by suites/retain/test_views.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, size, start, of_view, of_base):
    y = 3 * torch.ones(size, dtype=torch.float64, requires_grad=True)
    view = y[start:]
    view.retain_grad()
    y.retain_grad()
    ((of_view * view).sum() + (of_base * y).sum()).backward()
    base = [of_base + (of_view if place >= start else 0) for place in range(size)]
    own = [of_view + subject.value * of_base] * len(base[start:])
    assert (view.grad.tolist(), y.grad.tolist()) == (own, base)


READINGS = {
    "each its own uses (every torch): A view keeps the gradient of its own uses; what its base keeps has these and the base's own.": 0,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=2, start=1, of_view=5, of_base=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
