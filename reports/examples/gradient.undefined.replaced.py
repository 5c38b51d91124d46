"""gradient.undefined.replaced: What a hook returns for an undefined gradient of a leaf or an inner tensor is refused.

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


def example(subject, places, depth):
    for place, observers in places:
        row = [leaf(1)]
        for _ in range(depth):
            row.append(2 * row[-1])
        place = min(place, depth)
        for _ in range(observers):
            row[place].register_hook(lambda grad: None)
        row[place].register_hook(lambda grad: torch.tensor(7.0, dtype=torch.float64))
        result = outcome(through_silent_function(row[-1]).backward)
        expected = subject.value[1 if place else 0]
        taken = expected == "taken"
        assert (result, item(row[0].grad)) == ("accepted" if taken else expected, 7 * 2.0**place if taken else None)


READINGS = {
    'refused (torch >=2.0): A tensor that a hook returns for an undefined gradient ends backward() with RuntimeError, everywhere.': ('RuntimeError', 'RuntimeError'),
    "leaf not asked (torch >=1.7,<2.0): What the hook of an inner tensor returns for an undefined gradient is refused; a leaf's is not called.": ('accepted', 'RuntimeError'),
    'taken (torch <1.7): What a hook returns where a custom Function left the gradient undefined takes the place of a zero.': ('taken', 'taken'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), places=[(0, 0), (1, 0)], depth=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
