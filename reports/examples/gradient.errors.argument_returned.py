"""gradient.errors.argument_returned: A tensor hook that returns its argument changes nothing, like one that returns None.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


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


def example(subject, hooks, inner, first):
    seen = []
    does = {"argument": lambda grad: grad, "none": lambda grad: None}
    x = leaf(1)
    y = 1 * x
    for what in hooks:
        (y if inner else x).register_hook(does.get(what, lambda grad, by=what: grad * by))
        (y if inner else x).register_hook(lambda grad: seen.append(grad.item()))
    result = outcome(lambda: y.backward(leaf(first).detach()))
    left = [first * prod(by for by in hooks[: end + 1] if by not in does) for end in range(len(hooks))]
    assert (result, seen, item(x.grad)) == (subject.value if "argument" in hooks else "accepted", left, left[-1])


READINGS = {
    'accepted (every torch): A tensor hook may return its argument, wherever it is among the hooks of the tensor.': 'accepted',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=['argument'], inner=False, first=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
