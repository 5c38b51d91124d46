"""backward.twice.second_pass: Differentiating the gradient again calls no full hook of a module that is alone, and is right.

Says which reading this torch has.
Checked by suites/backward/test_twice.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def value(number):
    """A float64 scalar that requires grad: small integers stay exact."""
    return torch.tensor(float(number), dtype=torch.float64, requires_grad=True)


def cube():
    """A module x -> x ** 3."""
    class Cube(torch.nn.Module):
        def forward(self, x):
            return x**3

    return Cube()


def example(subject, what, number, hooks):
    module, calls = torch.nn.MSELoss() if what == "loss" else cube(), []
    for index in range(hooks):
        module.register_full_backward_hook(lambda *given, index=index: calls.append(index))
    x = value(number)
    if what == "hessian":
        second = torch.autograd.functional.hessian(module, x)
    else:
        out = module(x, torch.zeros_like(x)) if what == "loss" else module(x)
        (first,) = torch.autograd.grad(out, x, create_graph=True)
        assert first.item() == (2 * number if what == "loss" else 3 * number**2)
        first.backward()
        second = x.grad
    assert second.item() == (2 if what == "loss" else 6 * number)
    assert calls == list(range(hooks)) * subject.value


READINGS = {
    'silent (torch >=1.13): Of a pass and its second derivative only the first calls the full hooks of one module.': 1,
    'called again (torch <1.13): Differentiating the gradient again calls the full hook of the module once more.': 2,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), what='cube', number=2, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
