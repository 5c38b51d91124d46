"""retain.versions.base_changed_by_view: The gradient kept for a base follows a change made through a view of it.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    x = torch.ones(2, requires_grad=True)
    y = 3 * x
    y.retain_grad()
    y[:1].mul_(5)
    (2 * y).sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == subject.value


READINGS = {
    'of the new base (torch >=2.3): y[:1] *= 5, the loss is 2y: [2, 2].': ([2.0, 2.0], [30.0, 6.0]),
    'of the old base (torch <2.3): The gradient of what y was at the call: [10, 2].': ([10.0, 2.0], [30.0, 6.0]),
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
