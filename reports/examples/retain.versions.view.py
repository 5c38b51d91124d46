"""retain.versions.view: The gradient kept for a view is its own, and the base's has the view's part in it.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    y = 3 * torch.ones(2, requires_grad=True)
    view = y[:1]
    view.retain_grad()
    y.retain_grad()
    (5 * view).sum().backward()
    assert (view.grad.tolist(), y.grad.tolist()) == subject.value


READINGS = {
    'each its own (every torch): The loss is 5 * y[:1]: the view has [5], the base [5, 0].': ([5.0], [5.0, 0.0]),
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
