"""gradient.lifetime.survives_collection: A hook that refers to the node of its tensor survives garbage collection while the graph is alive.

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


def example(subject):
    import gc

    hook = Watched()
    y = 3 * torch.ones((), requires_grad=True)
    calls, hook.held = hook.calls, (y.grad_fn,)
    y.register_hook(hook)
    loss = 2 * y
    del y, hook
    loss.backward(retain_graph=True)
    gc.collect()
    loss.backward()
    assert len(calls) == subject.value


READINGS = {
    'survives (torch >=2.1): A hook that only the graph holds is called before and after a garbage collection.': 2,
    "is collected (torch <2.1): Garbage collection takes a hook that refers to its tensor's node, though the graph is alive.": 1,
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
