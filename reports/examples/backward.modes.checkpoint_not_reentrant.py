"""backward.modes.checkpoint_not_reentrant: With use_reentrant=False, too, full hooks under checkpoint run once in each backward.

Says which reading this torch has.
Checked by suites/backward/test_modes.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
if not "use_reentrant" in inspect.signature(torch.utils.checkpoint.checkpoint).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.utils.checkpoint.checkpoint(use_reentrant)")


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


def example(subject, weights, hooks, passes):
    from torch import tensor
    from torch.utils.checkpoint import checkpoint

    calls = []
    net = lines(calls, weights, hooks)
    for _ in range(passes):
        checkpoint(net, tensor(3.0, requires_grad=True), use_reentrant=False).backward()
    assert calls == due(weights, hooks) * passes * subject.value
    assert net[0].weight.grad.item() == 3 * product(weights[1:]) * passes


READINGS = {
    'once (every torch): Under checkpoint with use_reentrant=False full hooks run as often as without it.': 1,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), weights=[2], hooks=1, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
