"""gradient.errors.not_callable: register_hook takes what is not callable; backward() then raises TypeError.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, hook, before, inner):
    seen, calls = [], []
    handle = None
    x = leaf(1)
    y = 1 * x
    for by in before:
        (y if inner else x).register_hook(lambda grad, by=by: calls.append(grad.item()) or grad * by)
    try:
        handle = (y if inner else x).register_hook(hook)
        seen.append("registered")
        y.backward()
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value
    assert (calls, x.grad) == ([prod(before[:place]) for place in range(len(before))], None)
    # Once it is removed the others go on as ever.
    handle.remove()
    (y if inner else x).backward()
    assert x.grad.item() == prod(before)


READINGS = {
    'at backward (every torch): register_hook(3) returns a handle, and backward() raises TypeError.': ['registered', 'TypeError'],
    'RuntimeError instead (torch >=1.5,<1.7, a declared deviation): register_hook takes what is not callable; backward() then raises RuntimeError.': ['registered', 'RuntimeError'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hook=3, before=[], inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
