"""backward.twice.stale_replacement: After a pass that stopped at the weight, a full hook that scales corrupts a later gradient of x.

Says which reading this torch has.
Checked by suites/backward/test_twice.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def line():
    """A module x -> 2 * x that keeps its product, from before the output was wrapped, as `inner`."""
    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

        def forward(self, x):
            self.inner = self.weight * x
            return self.inner

    return Line()


def value(number):
    """A float64 scalar that requires grad: small integers stay exact."""
    return torch.tensor(float(number), dtype=torch.float64, requires_grad=True)


def example(subject, grad, root, factors):
    module, x, product = line(), value(1), 1
    for factor in factors:
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output, factor=factor: (grad_input[0] * factor,)
        )
        product *= factor
    (of_weight,) = torch.autograd.grad(grad * module(x), module.weight, create_graph=True)
    (root * of_weight).backward()
    assert x.grad.item() == root * grad * (product if subject.value else 1)


READINGS = {
    'corrupted (every torch): A gradient of x that came past the output is multiplied by what every full hook multiplies by.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), grad=5, root=7, factors=[100])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
