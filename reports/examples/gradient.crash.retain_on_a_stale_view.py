"""gradient.crash.retain_on_a_stale_view: retain_grad() can be called on a view after the base of the view was changed in place.

Says which reading this torch has.
On torch 1.13 it ends the process: a declared deviation.
Checked by suites/gradient/test_crash.py of torch-hook-conformance.
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
    'kept (every torch): retain_grad() on a view whose base was changed keeps the gradient of the view as it is now.': ([2.0], [30.0, 0.0]),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
sys.stdout.flush()
os._exit(not holds)  # after this some torch hangs, or crashes, when Python ends
