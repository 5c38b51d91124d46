"""gradient.passes.failed_pass_frees: A pass that a hook ended, without retain_graph, has freed what the nodes it passed had saved.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
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


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, squares, fails, retain_graph):
    def hook(grad):
        raise ValueError("a hook may raise")

    # A row of tensors, each the square of the one before it (which its node saves) or the same plus 1.
    row = [leaf(1)]
    for square in squares:
        row.append(row[-1] * row[-1] if square else row[-1] + 1)
    fails = min(fails, len(squares))
    handle = row[fails].register_hook(hook)
    ended = outcome(lambda: row[-1].backward(retain_graph=retain_graph), (ValueError, RuntimeError))
    handle.remove()
    again = outcome(row[-1].backward)
    freed = subject.value == "freed" and not retain_graph and any(squares[fails:])
    # From 1.5 to 1.6 the ValueError arrived as RuntimeError, which is asked elsewhere.
    assert (ended != "accepted", again) == (True, "RuntimeError" if freed else "accepted")
    slope = prod(2 * old.item() for old, square in zip(row, squares) if square)
    assert item(row[0].grad) == (None if freed else slope)


READINGS = {
    'freed (every torch): A pass that a hook ended, without retain_graph, has freed what the nodes it passed had saved.': 'freed',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), squares=[True, True], fails=1, retain_graph=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
