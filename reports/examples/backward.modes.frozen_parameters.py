"""backward.modes.frozen_parameters: A full hook runs where the input needs a gradient, whichever parameters are frozen.

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


def example(subject, weights, frozen, hooks):
    calls = []
    net = lines(calls, weights, hooks)
    for module, one in zip(net, frozen):
        module.weight.requires_grad_(not one)
    net(torch.tensor(3.0, requires_grad=True)).backward()
    assert calls == (due(weights, hooks) if subject.value or not all(frozen[: len(weights)]) else [])
    assert [module.weight.grad is None for module in net] == frozen[: len(weights)]


READINGS = {
    'called (every torch): Frozen parameters change nothing in what a full hook is given.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), weights=[2], frozen=[True], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
