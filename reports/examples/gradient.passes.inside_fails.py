"""gradient.passes.inside_fails: An exception in a backward that a hook runs ends the outer backward with the same type.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
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


def example(subject, kind, depth):
    calls = []
    leaves = [leaf(1) for _ in range(depth + 1)]

    def at(level):
        def hook(grad):
            calls.append(level)
            if level == depth:
                raise kind("a hook may raise")
            with torch.enable_grad():
                (2 * leaves[level + 1]).backward()

        return hook

    for level, x in enumerate(leaves):
        x.register_hook(at(level))
        x.register_hook(lambda grad: calls.append(-1))
    result = outcome((2 * leaves[0]).backward, (kind, RuntimeError))
    assert (result, calls) == (subject.value or kind.__name__, list(range(depth + 1)))
    assert [x.grad for x in leaves] == [None] * (depth + 1)


READINGS = {
    'the same type (every torch): An exception in a backward that a hook runs ends all outer passes with its type, from any depth.': '',
    'RuntimeError instead (torch >=1.5,<1.7, a declared deviation): An exception in a backward that a hook runs ends the outer backward with RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind=KeyError, depth=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
