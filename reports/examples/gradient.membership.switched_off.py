"""gradient.membership.switched_off: A leaf that no longer requires grad when the gradient arrives has its hooks called and no .grad set.

Says which reading this torch has.
Checked by suites/gradient/test_registered.py of torch-hook-conformance.
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


def example(subject, passes, factors, had):
    seen = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for by in factors:
        x.register_hook(lambda grad, by=by: seen.append(grad.item()) or grad * by)
    y = 2 * x
    expected = []
    for on in passes:
        x.requires_grad_(on)
        y.backward(retain_graph=True)
        if on or subject.value:
            expected += [2 * prod(factors[:place]) for place in range(len(factors))]
        if on:
            had = (had or 0) + 2 * prod(factors)
        assert (seen, item(x.grad)) == (expected, had)


READINGS = {
    'called (torch >=2.0): A leaf that no longer requires grad has its hooks called once in each pass; .grad stays as it was.': True,
    'not called (torch <2.0): A leaf that no longer requires grad when the gradient arrives has no hook called and no .grad set.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[False], factors=[1], had=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
