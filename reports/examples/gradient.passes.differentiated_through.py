"""gradient.passes.differentiated_through: The second derivative goes through what the hooks of an inner tensor computed.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, x, hooks):
    tensor = leaf(x)
    y = tensor * tensor
    square = lambda grad: grad * grad
    handles = [y.register_hook(square if by == "square" else lambda grad, by=by: grad * by) for by in hooks]
    (first,) = torch.autograd.grad(y * y, [tensor], create_graph=True)
    for handle in handles:
        handle.remove()
    (second,) = torch.autograd.grad(first, [tensor])
    # The gradient at y begins as 2 * x**2; at x there is the factor 2 * x more.
    factor, power = 2, 2
    for by in hooks:
        factor, power = (factor * factor, 2 * power) if by == "square" else (factor * by, power)
    bend = 2 * factor * (power + 1 if subject.value or not hooks else 1) * x**power
    assert (first.item(), second.item()) == (2 * factor * x ** (power + 1), bend)


READINGS = {
    'through it (every torch): The second derivative goes through what hooks of an inner tensor computed from the gradient.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=2, hooks=['square'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
