"""backward.twice.stale: After a pass that stopped at the weight, a later pass calls the full hook with the old grad_output.

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


def example(subject, stopped, root, hooks, twice):
    module, calls, x = line(), [], value(1)
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, *grads: calls.append(tuple(grad.item() for (grad,) in grads)))
    out = module(x)
    for grad in stopped:
        (of_weight,) = torch.autograd.grad(grad * out, module.weight, create_graph=True)
    assert calls == []
    if twice:
        # The gradient of the weight is grad * x: its own backward reaches x beside the output.
        (root * of_weight).backward()
    else:
        module.inner.backward(torch.tensor(float(root), dtype=torch.float64))
    reached = root * stopped[-1] if twice else 2 * root
    assert calls == [(reached, stopped[-1])] * hooks * subject.value
    assert x.grad.item() == reached


READINGS = {
    'old (every torch): The old grad_output is that of the last pass that stopped at the weight.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), stopped=[5], root=7, hooks=1, twice=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
