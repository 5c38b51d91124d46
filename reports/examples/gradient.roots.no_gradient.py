"""gradient.roots.no_gradient: backward() of a tensor with several elements needs a gradient: RuntimeError, and no hook is called.

Says which reading this torch has.
Checked by suites/gradient/test_roots.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, shape, factors, leaf_too):
    calls = []
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    y = 2 * x
    if leaf_too:
        x.register_hook(calls.append)
    for by in factors:
        y.register_hook(lambda grad, by=by: calls.append(grad) or grad * by)
    result = outcome(y.backward)
    if prod(shape) == 1 or subject.value:
        expected = ("accepted", len(factors) + leaf_too, torch.full(shape, 2.0 * prod(factors)).tolist())
    else:
        expected = ("RuntimeError", 0, None)
    assert (result, len(calls), item(x.grad)) == expected


READINGS = {
    'raises (every torch): Only a root with one element, of any shape, can go backward without a gradient.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shape=[2], factors=[1], leaf_too=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
