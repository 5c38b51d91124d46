"""retain.keep.own_memory: The kept gradient has memory of its own: changing it changes no other gradient.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, adds, size):
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = x.view(size)
    y.retain_grad()
    y.backward(torch.full((size,), 2.0, dtype=torch.float64))
    at_y = at_x = 2
    for kept, by in adds:
        (y if kept else x).grad.add_(by)
        at_y += by if kept else by * subject.value
        at_x += by * subject.value if kept else by
    assert (y.grad.tolist(), x.grad.tolist()) == ([at_y] * size, [at_x] * size)


READINGS = {
    'its own (every torch): After adding to y.grad, x.grad is as it was, and the other way round.': 0,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), adds=[(True, 2)], size=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
