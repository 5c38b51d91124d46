"""gradient.kinds.custom_function: A hook on the output of a custom Function runs before its backward, which is given the replacement.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def example(subject, row, at_leaf):
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.item())
            return grad * 2

    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    y = x
    for factors in row:
        y = Double.apply(y)
        for by in factors:
            y.register_hook(lambda grad, by=by: grad * by)
    x.register_hook(lambda grad: grad * at_leaf)
    y.backward()
    grad, expected = 1, []
    for factors in reversed(row):
        expected.append(grad * (prod(factors) if subject.value == "before" else 1))
        grad *= 2 * prod(factors)
    assert (seen, x.grad.item()) == (expected, grad * at_leaf)


READINGS = {
    'before (every torch): In a row of custom Functions each backward is given what the hooks of its output left.': 'before',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=[[10]], at_leaf=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
