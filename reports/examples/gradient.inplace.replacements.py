"""gradient.inplace.replacements: A replacement takes effect at the version its hook is on: between the in-place changes.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, steps):
    x = leaf(1)
    y = 3 * x
    for what, number in steps:
        if what == "hook":
            y.register_hook(lambda grad, number=number: grad + number)
        else:
            y.mul_(number)
    (2 * y).backward()
    grad, added = 2, sum(number for what, number in steps if what == "hook")
    first = [what for what, _ in steps].index("hook")
    for place, (what, number) in reversed(list(enumerate(steps))):
        if what == "times":
            grad *= number
        elif subject.value == "own":
            grad += number
        elif place == first:
            grad += added
    assert x.grad.item() == 3 * grad


READINGS = {
    "each in its place (torch >=2.0): A replacement takes effect at its own hook's version.": 'own',
    'all at the first (torch <2.0): All replacements take effect at the version that the first hook was put on.': 'first',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), steps=[('hook', 1), ('times', 5), ('hook', 100)])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
