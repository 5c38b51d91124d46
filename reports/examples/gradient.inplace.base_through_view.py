"""gradient.inplace.base_through_view: A base that is changed through a view has a new version too, with hooks of its own.

Says which reading this torch has.
Checked by suites/gradient/test_views.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def calls_of(steps, reading):
    """The hooks by number, as they are called, and the product of the later changes, which each is given."""
    versions = [[]]
    products = [1]
    for step in steps:
        if step == "hook":
            versions[-1].append(str(sum(map(len, versions))))
        else:
            versions.append([])
            products = [old * step for old in products] + [1]
    if reading == "first":
        every = [name for hooks in versions for name in hooks]
        first = [bool(hooks) for hooks in versions].index(True)
        return [(name, products[first]) for name in every]
    return [(name, by) for hooks, by in reversed(list(zip(versions, products))) for name in hooks]


def example(subject, steps):
    seen = []
    names = map(str, range(len(steps)))
    y = 3 * torch.ones(2, dtype=torch.float64, requires_grad=True)
    for step in steps:
        if step == "hook":
            y.register_hook(noting(seen, next(names)))
        else:
            y[:1].mul_(step)
    (2 * y).sum().backward()
    assert seen == [(name, [2.0 * by, 2.0]) for name, by in calls_of(steps, subject.value)]


READINGS = {
    "its own version (torch >=2.3): Hooks put on a base before and after a change through a view are each given their version's gradient.": 'own',
    "the first hook's version (torch <2.3): All hooks of a base are given the gradient before the change through a view, where the first one is.": 'first',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), steps=['hook', 5, 'hook'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
