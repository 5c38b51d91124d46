"""gradient.lifetime.freed: A tensor hook is freed when it is removed, or when its tensor and the graph are gone.

Says which reading this torch has.
Checked by suites/gradient/test_lifetime.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


class Watched:
    """A hook that counts its calls, and that can be watched by a weak reference."""

    def __init__(self, calls = None, *held):
        self.calls, self.held = [] if calls is None else calls, held

    def __call__(self, grad):
        self.calls.append(grad.tolist())


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, inner, hooks, removed):
    import weakref

    owned = [Watched() for _ in range(hooks)]
    watched = [weakref.ref(hook) for hook in owned]
    hooked = 3 * leaf(1) if inner else leaf(1)
    handles = [hooked.register_hook(hook) for hook in owned]
    del owned
    gone = set()
    for place in removed:
        if place < hooks:
            handles[place].remove()
            gone.add(place)
        assert [seen() is None for seen in watched] == [at in gone and subject.value for at in range(hooks)]
    del hooked
    assert [seen() is None for seen in watched] == [subject.value] * hooks


READINGS = {
    'freed at once (every torch): A removed hook is freed at once, without garbage collection; the others of its tensor are not.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), inner=False, hooks=1, removed=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
