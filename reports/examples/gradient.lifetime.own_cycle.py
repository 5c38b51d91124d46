"""gradient.lifetime.own_cycle: A hook that refers to its tensor can be garbage-collected if that is a leaf, not if it is inner.

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


def backward(loss, **options):
    """Go back and make sure that nothing of the graph is held any more.

    The engine's thread may keep the last node until it gets other work, as it does in torch 1.4 and 1.5.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.backward(**options)
    leaf(0).backward()


def example(subject):
    import gc
    import weakref

    freed, broken = [], []
    for at_leaf in (True, False):
        hooked = torch.ones((), requires_grad=True)
        if not at_leaf:
            hooked = 3 * hooked
        hook = Watched(None, hooked)
        seen = weakref.ref(hook)
        broken.append(hooked.register_hook(hook))
        backward(2 * hooked)
        del hooked, hook
        gc.collect()
        freed.append(seen() is None)
    for handle in broken:
        handle.remove()
    assert freed == subject.value


READINGS = {
    'leaf only (every torch): A cycle of a hook and its tensor is collected at a leaf, not at an inner tensor.': [True, False],
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
