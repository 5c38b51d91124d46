"""gradient.membership.without_a_graph: The result of detach() or of an operation under no_grad() refuses hooks with RuntimeError.

Says which reading this torch has.
Checked by suites/gradient/test_registered.py of torch-hook-conformance.
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


def example(subject, row):
    calls = []
    tensor, requires = leaf(1), True
    for way in row:
        if way == "asked":
            tensor, requires = tensor.requires_grad_(), True
        elif way == "detach":
            tensor, requires = tensor.detach(), False
        else:
            with torch.set_grad_enabled(way == "times"):
                tensor = 2 * tensor
            requires = requires and way == "times"
    result = outcome(lambda: tensor.register_hook(calls.append))
    assert result == ("accepted" if requires else subject.value)
    if requires:
        tensor.backward()
    assert [grad.item() for grad in calls] == [1.0] * requires


READINGS = {
    'refused (every torch): What detach() or no_grad() returns, and what is made from it, refuses hooks until it requires grad.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=['detach'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
