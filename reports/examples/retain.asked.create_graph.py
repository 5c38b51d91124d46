"""retain.asked.create_graph: A kept gradient that depends on a leaf can be differentiated again only with create_graph=True.

Says which reading this torch has.
Checked by suites/retain/test_asked.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, x, power, create_graph):
    tensor = leaf(x)
    y = 3 * tensor
    y.retain_grad()
    product = y
    for _ in range(power - 1):
        product = product * y
    torch.autograd.backward([product], create_graph=create_graph)
    grad, tensor.grad, y.grad = y.grad, None, None
    has_graph = create_graph and power > 1 and subject.value
    assert (grad.item(), grad.requires_grad) == (power * (3 * x) ** (power - 1), has_graph)
    if has_graph:
        (bend,) = torch.autograd.grad(grad, [tensor])
        assert bend.item() == 3 * power * (power - 1) * (3 * x) ** (power - 2)


READINGS = {
    'with create_graph only (every torch): With create_graph=True a kept gradient that depends on a leaf can be differentiated, else not.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=1, power=2, create_graph=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
