"""gradient.lifetime.tensor_object_gone: A tensor hook is called, and can be removed, also when no Python name of its tensor is left.

Says which reading this torch has.
Checked by suites/gradient/test_lifetime.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, inner, hooks, removed):
    calls = []
    hooked = 3 * leaf(1) if inner else leaf(1)
    handles = [hooked.register_hook(lambda grad, number=number: calls.append(number)) for number in range(hooks)]
    loss = 2 * hooked
    del hooked
    left = list(range(hooks))
    for place in removed:
        calls.clear()
        loss.backward(retain_graph=True)
        assert calls == (left if subject.value else [])
        if place < hooks:
            handles[place].remove()
            left = [number for number in left if number != place]
    calls.clear()
    loss.backward()
    assert calls == (left if subject.value else [])


READINGS = {
    'called, then removed (every torch): Hooks of a tensor without a Python name are called, and their handles remove them, in any order.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), inner=True, hooks=1, removed=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
