"""backward.twice.create_graph: With create_graph grad mode is on in a full hook and its gradients need one; without, neither.

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


def example(subject, passes, hooks, again):
    module, seen, x = cube(), [], value(2)
    for _ in range(hooks):
        module.register_full_backward_hook(
            lambda module, grad_input, grad_output: seen.append((torch.is_grad_enabled(), grad_input[0].requires_grad))
        )
    out = module(x)
    for create in passes:
        # Over one graph, or each pass over a graph of its own.
        out = module(x) if again else out
        torch.autograd.grad(out, x, create_graph=create, retain_graph=True)
    assert seen == [(create and subject.value,) * 2 for create in passes for _ in range(hooks)]


READINGS = {
    'follows create_graph (every torch): Grad mode in a full hook follows create_graph, pass by pass.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[True], hooks=1, again=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
