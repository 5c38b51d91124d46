"""retain.versions.base_changed_by_view: A base that keeps its gradient keeps that of the new base after a change through a view of it.

Says which reading this torch has.
Checked by suites/retain/test_views.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def example(subject, size, part, edits, grad):
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    y.retain_grad()
    for by in edits:
        y[:part].mul_(by)
    (grad * y).sum().backward()
    inside = min(size, part)
    old = [grad * prod(edits)] * inside + [grad] * (size - inside)
    assert y.grad.tolist() == (old if subject.value == "old" else [grad] * size)
    assert x.grad.tolist() == [3 * each for each in old]


READINGS = {
    'of the new base (torch >=2.3): A base that keeps its gradient keeps that of the new base after a change through a view of it.': 'new',
    'of the old base (torch <2.3): A base that keeps its gradient keeps that of the old base after a change through a view of it.': 'old',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=2, part=1, edits=[5], grad=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
