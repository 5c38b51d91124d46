"""backward.twice.replacement: A replacement made under create_graph counts once in the second derivative.

Says which reading this torch has.
Checked by suites/backward/test_twice.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def cube():
    """A module x -> x ** 3."""
    class Cube(torch.nn.Module):
        def forward(self, x):
            return x**3

    return Cube()


def value(number):
    """A float64 scalar that requires grad: small integers stay exact."""
    return torch.tensor(float(number), dtype=torch.float64, requires_grad=True)


def example(subject, number, factors):
    module, x, product = cube(), value(number), 1
    for factor in factors:
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output, factor=factor: (grad_input[0] * factor,)
        )
        product *= factor
    (grad,) = torch.autograd.grad(module(x), x, create_graph=True)
    grad.backward()
    assert (grad.item(), x.grad.item()) == (product * 3 * number**2, product**subject.value * 6 * number)


READINGS = {
    'once (torch >=1.13): A factor that a full hook puts in under create_graph is in both derivatives, once.': 1,
    'twice (torch <1.13): A replacement made under create_graph is made again in the second derivative.': 2,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), number=2, factors=[10])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
