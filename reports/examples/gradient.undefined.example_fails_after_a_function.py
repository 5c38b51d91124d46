"""gradient.undefined.example_fails_after_a_function: The documentation's own hook, grad * 2, raises TypeError before a custom Function that returns None.

Says which reading this torch has.
Checked by suites/gradient/test_no_gradient.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def through_silent_function(x):
    """x * 1, by a custom Function whose backward returns None."""
    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return None

    return Silent.apply(x)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, before, place, hooks):
    row = [leaf(1)]
    for _ in range(before):
        row.append(2 * row[-1])
    for _ in range(hooks):
        row[min(place, before)].register_hook(lambda grad: grad * 2)
    result = outcome(through_silent_function(row[-1]).backward)
    assert (result, item(row[0].grad)) == subject.value


READINGS = {
    'fails (torch >=1.7): The hook grad * 2 raises TypeError before a custom Function that returns None: it is given None.': ('TypeError', None),
    'works (torch <1.7): The hook grad * 2 works before a custom Function that returns None: it is given zero.': ('accepted', 0.0),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), before=1, place=1, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
