"""tutorial.tensor.t11_sees_the_final_gradient: A hook on the parameter W is given the value that W.grad holds afterwards.

Says which reading this torch has.
Checked by suites/tutorial/test_tensor.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, passes, factors):
    weight = leaf(2)
    seen = []
    for by in factors:
        weight.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    held = 0.0
    for grad in passes:
        seen.clear()
        (weight * grad).backward()
        given_gradients = [grad * prod(factors[:place]) for place in range(len(factors))]
        held += grad * prod(factors)
        assert weight.grad.item() == held
        assert seen == ([held] * len(factors) if subject.value else given_gradients)


READINGS = {
    'false (every torch): A hook on W is given what this pass adds to W.grad, before later hooks of W replace it.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[3, 3], factors=[10])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
