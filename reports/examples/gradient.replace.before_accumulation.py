"""gradient.replace.before_accumulation: While the hook of a leaf runs, .grad still holds what it held before.

Says which reading this torch has.
Checked by suites/gradient/test_replace.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, had, passes, factors):
    seen = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for by in factors:
        x.register_hook(lambda grad, by=by: seen.append((grad.item(), item(x.grad))) or grad * by)
    expected = []
    for grad in passes:
        (grad * x).backward()
        before, had = had, (had or 0) + grad * prod(factors)
        for by in factors:
            expected.append((grad, before if subject.value == "before" else had))
            grad *= by
    assert (seen, x.grad.item()) == (expected, had)


READINGS = {
    'before (every torch): Each hook of a leaf finds the sum of the earlier passes in .grad.': 'before',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), had=5, passes=[2], factors=[1])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
