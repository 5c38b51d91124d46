"""gradient.lifetime.post_accumulate_cycle: A post-accumulate hook that refers to its leaf is never garbage-collected.

Says which reading this torch has.
Checked by suites/gradient/test_lifetime.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


class Watched:
    """A hook that counts its calls, and that can be watched by a weak reference."""

    def __init__(self, calls = None, *held):
        self.calls, self.held = [] if calls is None else calls, held

    def __call__(self, grad):
        self.calls.append(grad.tolist())


def example(subject):
    import gc
    import weakref

    x = torch.ones((), requires_grad=True)
    hook = Watched(None, x)
    seen = weakref.ref(hook)
    handle = x.register_post_accumulate_grad_hook(hook)
    del x, hook
    freed = []
    for _ in range(2):
        gc.collect()
        freed.append(seen() is None)
        handle.remove()
    assert freed == subject.value


READINGS = {
    'never collected (every torch): A post-accumulate hook that refers to its leaf is freed by its removal alone.': [False, True],
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
