"""gradient.errors.arity: register_hook takes a hook with any number of arguments; backward() fails unless it takes one.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
"""

import torch
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


ARITIES = {
    "none": lambda: None,
    "one": lambda grad: None,
    "two": lambda tensor, grad: None,
    "any": lambda *grads: None,
    "one or two": lambda grad, more=None: None,
    "keywords": lambda **grads: None,
}


def example(subject, hooks, inner):
    x = leaf(1)
    y = 1 * x
    took = [outcome(lambda name=name: (y if inner else x).register_hook(ARITIES[name])) for name in hooks]
    # Whether it is a TypeError or, before 1.7, a RuntimeError is not asked here.
    done = outcome(y.backward) == "accepted"
    good = [name in ("one", "any", "one or two") for name in hooks]
    refused = subject.value == "registration"
    assert [one == "accepted" for one in took] == [fits or not refused for fits in good]
    assert (done, item(x.grad)) == ((True, 1.0) if refused or all(good) else (False, None))


READINGS = {
    'at backward (every torch): A hook that cannot be called with one argument is registered, and ends backward().': 'backward',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=['none'], inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
