"""retain.keep.own_memory: The kept gradient has memory of its own: changing it changes no other gradient.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, adds, size):
    seen = []
    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = x.view(size)
    y.register_hook(seen.append)
    y.retain_grad()
    # One number, seen from all places: what is kept has a place for each.
    y.backward(torch.tensor([2.0], dtype=torch.float64).expand(size))
    at_y = at_x = 2
    for kept, by in adds:
        (y if kept else x).grad.add_(by)
        at_y += by if kept else by * subject.value
        at_x += by * subject.value if kept else by
    assert (y.grad.tolist(), x.grad.tolist()) == ([at_y] * size, [at_x] * size)
    if all(kept for kept, _ in adds):  # x.grad may be the gradient that came
        assert [grad.tolist() for grad in seen] == [[at_y if subject.value else 2] * size]


READINGS = {
    'its own (every torch): Changing a kept gradient in place changes no other gradient.': 0,
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
