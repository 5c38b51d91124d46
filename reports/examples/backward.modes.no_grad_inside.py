"""backward.modes.no_grad_inside: Where all of forward runs under no_grad the full hook does not run; the output needs no gradient.

Says which reading this torch has.
Checked by suites/backward/test_modes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def show(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def line(calls, kind = "full_backward", weight = 2, hooks = 1):
    """The hooked module x -> weight * x; its hooks put what they are given into `calls`."""
    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(float(weight)))

        def forward(self, x):
            return self.weight * x

    module = Line()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module


def lines(calls, weights, hooks):
    """Such modules one behind the other."""
    return torch.nn.Sequential(*(line(calls, weight=weight, hooks=hooks) for weight in weights))


def due(weights, hooks):
    """What the full hooks of `lines` are given in a pass from the output: the last module comes first."""
    seen, grad = [], 1.0
    for weight in reversed(weights):
        seen += [[[grad * weight], [grad]]] * hooks
        grad *= weight
    return seen


def product(weights):
    by = 1
    for weight in weights:
        by *= weight
    return by


def example(subject, weights, hooks):
    calls = []
    net, x = lines(calls, weights, hooks), torch.tensor(3.0, requires_grad=True)
    net[-1].forward = torch.no_grad()(net[-1].forward)
    out = net(x)
    (out + x).backward()
    assert (out.requires_grad, len(calls), x.grad.item()) == (subject.value, len(weights) * hooks * subject.value, 1)
    # The modules before it are hooked as ever.
    net[:-1](x).backward()
    assert (x.grad.item(), calls) == (1 + product(weights[:-1]), due(weights[:-1], hooks))


READINGS = {
    'silent (every torch): A module whose forward runs under no_grad leaves the gradients of the others right.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), weights=[2], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
