"""retain.versions.view_changed: The gradient kept for a view follows the view when it is changed in place.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    x = torch.ones(2, requires_grad=True)
    view = (3 * x)[:1]
    view.retain_grad()
    view.mul_(5)
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist(), x.grad.tolist()) == subject.value


READINGS = {
    'of the new view (torch >=1.13): view *= 5, the loss is 2 * view: [2].': ([2.0], [30.0, 0.0]),
    'lost (torch <1.13): The old view is no more in the graph: None.': (None, [30.0, 0.0]),
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
