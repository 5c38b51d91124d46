"""gradient.lifetime.create_graph_cycle: backward(create_graph=True) makes a cycle of a leaf and its .grad that only .grad = None breaks.

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

    def freed(reset):
        hook = Watched()
        x = torch.ones((), requires_grad=True)
        x.register_hook(hook)
        backward(x * x, create_graph=True)
        grad = None if reset else x.grad
        if reset:
            x.grad = None
        seen = weakref.ref(hook)
        del x, hook
        gc.collect()
        return seen() is None, grad

    (leaked, grad), (clean, _) = freed(False), freed(True)
    assert (leaked, clean) == subject.value
    # `grad` was held to the end on purpose: it is what would be lost sight of.
    assert grad is not None


READINGS = {
    "leaks until then (every torch): After backward(create_graph=True) a leaf's hook outlives the leaf until its .grad is set to None.": (False, True),
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
