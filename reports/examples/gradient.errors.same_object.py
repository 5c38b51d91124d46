"""gradient.errors.same_object: backward() raises the very exception object that a tensor hook raised.

Says which reading this torch has.
Checked by suites/gradient/test_errors.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, kind, inner, before, after):
    raised, calls = kind("a hook may raise"), []

    def fails(grad):
        raise raised

    x = leaf(1)
    y = 2 * x
    for hook in [lambda grad: calls.append("before")] * before + [fails] + [lambda grad: calls.append("after")] * after:
        (y if inner else x).register_hook(hook)
    seen = "accepted"
    try:
        y.backward()
    except (kind, RuntimeError) as caught:
        seen = caught is raised
    assert (calls, seen) == (["before"] * before, subject.value)


READINGS = {
    'the same object (every torch): backward() raises the exception object of the hook, whichever hook of whichever tensor raised it.': True,
    'the object is lost (torch >=1.5,<1.7, a declared deviation): backward() raises a new RuntimeError with the text of what the hook raised.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind=ValueError, inner=False, before=0, after=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
