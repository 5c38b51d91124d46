"""retain.versions.base_of_kept_view: A view that keeps its gradient keeps that of the new view after an in-place change of its base.

Says which reading this torch has.
Checked by suites/retain/test_views.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, size, part, edits, grad):
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:part]
    view.retain_grad()
    for by in edits:
        y.mul_(by)
    (grad * view).sum().backward()
    inside = min(size, part)
    assert item(view.grad) == (None if subject.value == "lost" else [grad] * inside)
    assert x.grad.tolist() == [3 * grad * prod(edits)] * inside + [0] * (size - inside)


READINGS = {
    'of the new view (torch >=1.13): A view that keeps its gradient keeps that of the new view after an in-place change of its base.': 'new',
    'lost (torch <1.13): A view that keeps its gradient has .grad None after an in-place change of its base.': 'lost',
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
