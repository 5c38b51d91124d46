"""gradient.lifetime.removed_too_late: Removing a tensor hook twice, or after its tensor is gone, does nothing; a dropped handle keeps it.

Says which reading this torch has.
Checked by suites/gradient/test_handles.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, inner, removed):
    calls = []
    handles = [leaf(1).register_hook(lambda grad: calls.append(-1))]  # 0: of a tensor that is gone
    x = leaf(1)
    y = 1 * x
    hooked = y if inner else x
    handles += [hooked.register_hook(lambda grad, number=number: calls.append(number)) for number in (1, 2, 3)]
    hooked.register_hook(lambda grad: calls.append(5))
    left = [1, 2, 3, 5]
    for place in removed:
        if place == 4:
            continue
        handles[place].remove()
        if place in left:
            left.remove(place)
        elif not subject.value:
            left = left[1:]
    y.backward()
    assert calls == left


READINGS = {
    'nothing (every torch): Removing a tensor hook twice or after its tensor is gone leaves its neighbours alone.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), inner=False, removed=[1, 1])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
