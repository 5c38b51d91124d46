"""gradient.crash.retain_on_a_stale_view: retain_grad() can be called on a view after the base of the view was changed in place.

Says which reading this torch has. Checked by suites/gradient/test_crash.py of torch-hook-conformance.
"""

import os
import sys
import torch
from types import SimpleNamespace


def example(subject):
    x = torch.ones(2, requires_grad=True)
    y = 3 * x
    view = y[:1]
    y.mul_(5)
    view.retain_grad()
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist(), x.grad.tolist()) == subject.value


READINGS = {
    'kept (every torch): The gradient of the view as it is now: [2].': ([2.0], [30.0, 0.0]),
}

for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    print("torch", torch.__version__, "-", reading)
    break
else:
    raise SystemExit(f"torch {torch.__version__} has none of these readings")
sys.stdout.flush()
os._exit(0)  # after this some torch hangs, or crashes, when Python ends
