"""gradient.crash.hook_on_a_stale_view: The first hook of a view can be registered after the base of the view was changed in place.

Says which reading this torch has.
On torch 2.0 to 2.14 it ends the process: a declared deviation.
Checked by suites/gradient/test_crash.py of torch-hook-conformance.
"""

import os
import sys
import torch
from types import SimpleNamespace


def example(subject):
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = 3 * x
    view = y[:1]
    y.mul_(5)
    view.register_hook(lambda grad: seen.append(grad.tolist()))
    (2 * view).sum().backward()
    assert (seen, x.grad.tolist()) == subject.value


READINGS = {
    'called (every torch): A first hook put on a view after its base was changed is given the gradient of the view as it is now.': ([[2.0]], [30.0, 0.0]),
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
