"""gradient.inplace.mark_dirty: A custom Function that marks its input dirty makes a new version of it, with hooks of its own.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


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


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def example(subject, steps):
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, by):
            ctx.mark_dirty(x)
            ctx.by = by
            return x.mul_(by)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.by, None

    seen = []
    names = map(str, range(len(steps)))
    y = 3 * leaf(1)
    for step in steps:
        if step == "hook":
            y.register_hook(noting(seen, next(names)))
        else:
            y = Times.apply(y, step)
    y.backward()
    assert seen == calls_of(steps, subject.value)


READINGS = {
    'its own version (torch >=2.0): Each hook is given the gradient of its own version, before or after the Function that marks it dirty.': 'own',
    "the first hook's version (torch <2.0): All hooks are given the gradient of the first hook's version, also those put on after mark_dirty().": 'first',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), steps=['hook', 2, 'hook'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
