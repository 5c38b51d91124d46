"""retain.versions.base_of_kept_view: The gradient kept for a view follows the view when its base is changed in place.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    y = 3 * torch.ones(2, requires_grad=True)
    view = y[:1]
    view.retain_grad()
    y.mul_(5)
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist()) == subject.value


READINGS = {
    'of the new view (torch >=1.13): base *= 5, the loss is 2 * view: [2].': [2.0],
    'lost (torch <1.13): The old view is no more in the graph: None.': None,
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
