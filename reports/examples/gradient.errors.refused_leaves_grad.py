"""gradient.errors.refused_leaves_grad: A replacement that is refused leaves .grad as it was, and the next pass adds to it.

Says which reading this torch has.
Checked by suites/gradient/test_wrong.py of torch-hook-conformance.
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


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, had, passes):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    x.grad = None if had is None else torch.full((2,), float(had), dtype=torch.float64)
    for refused in passes:
        handle = x.register_hook(lambda grad, refused=refused: grad[:1] if refused else grad * 10)
        result = outcome(lambda: (1 * x).backward(torch.ones(2, dtype=torch.float64)))
        handle.remove()
        added = subject.value if refused else 10
        had = had if not added else added + (had or 0)
        assert (result, item(x.grad)) == ("RuntimeError" if refused else "accepted", had and [had, had])


READINGS = {
    'untouched (every torch): A pass whose replacement was refused adds nothing to .grad.': 0,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), had=7, passes=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
