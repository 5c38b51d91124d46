"""gradient.kinds.shape: The gradient that a hook is given has the shape of its tensor, also of an expanded or 0-dim one.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def example(subject, shape, times, inner):
    seen = []
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    hooked = 1 * x if inner else x
    hooked.register_hook(seen.append)
    used = times + shape
    hooked.expand(used).backward(torch.ones(used, dtype=torch.float64))
    whole = torch.full(shape, float(prod(times))) if subject.value == "tensor" else torch.ones(used)
    assert [(list(grad.shape), grad.tolist()) for grad in seen] == [(list(whole.shape), whole.tolist())]


READINGS = {
    "the tensor's (every torch): The gradient in a hook has the shape of its tensor, also where that was used expanded.": 'tensor',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shape=[2], times=[3], inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
