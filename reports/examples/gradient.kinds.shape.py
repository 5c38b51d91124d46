"""gradient.kinds.shape: The gradient has the shape of the tensor, also of one that is expanded or has no dimension.

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
    "the tensor's (every torch): What is used several times over sees the sum.": 'tensor',
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
