"""gradient.copies.deepcopy_of_inner: deepcopy of an inner tensor raises RuntimeError, hooked or not.

Says which reading this torch has.
Checked by suites/gradient/test_copies.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def made(kind):
    """A scalar tensor with the value 1: a leaf, an inner tensor or a parameter."""
    if kind == "parameter":
        return torch.nn.Parameter(leaf(1).detach())
    return 1 * leaf(1) if kind == "inner" else leaf(1)


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def example(subject, row, factors):
    import copy

    tensor = made("leaf")
    for way in row:
        tensor = {"times": lambda t: 2 * t, "view": lambda t: t.view(()), "detach": lambda t: t.detach()}[way](tensor)
    inner = "detach" not in row
    # After a detach() nothing requires grad: no hook can be registered, and the tensor is a leaf.
    for by in factors if inner else []:
        tensor.register_hook(lambda grad, by=by: grad * by)
    assert outcome(lambda: copy.deepcopy(tensor)) == (subject.value if inner else "accepted")


READINGS = {
    'raises (every torch): Only a leaf can be deepcopied; what detach() returns is one.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=['times'], factors=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
