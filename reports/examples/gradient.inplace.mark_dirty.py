"""gradient.inplace.mark_dirty: A custom Function that marks its input dirty is an in-place change like any other.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def example(subject):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    seen = []
    y = 3 * torch.ones((), requires_grad=True)
    y.register_hook(noting(seen, "a"))
    y = Double.apply(y)
    y.register_hook(noting(seen, "b"))
    y.backward()
    assert seen == subject.value


READINGS = {
    'its own version (torch >=2.0): The hook of the doubled y is given 1, the one before it 2.': [('b', 1.0), ('a', 2.0)],
    "the first hook's version (torch <2.0): Both are given 2.": [('a', 2.0), ('b', 2.0)],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
