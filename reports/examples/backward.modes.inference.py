"""backward.modes.inference: A module with a full hook can be called in inference mode.

Says which reading this torch has.
Checked by suites/backward/test_modes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
if not hasattr(torch, "inference_mode"): raise SystemExit("torch " + torch.__version__ + " has no torch.inference_mode")


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


def example(subject, weights, number, hooks):
    calls = []
    net, x = lines(calls, weights, hooks), torch.tensor(float(number), requires_grad=True)
    with torch.inference_mode():
        try:
            out = net(x)
            seen = "accepted"
            assert (out.item(), out.requires_grad, out.is_inference()) == (number * product(weights), False, True)
        except RuntimeError as error:
            seen = type(error).__name__
    assert (seen, calls) == (subject.value, [])
    # The hooks run in a call outside.
    net(x).backward()
    assert calls == due(weights, hooks)


READINGS = {
    'accepted (torch >=1.10): In inference mode a module with a full hook returns an inference tensor.': 'accepted',
    'refused (torch <1.10): In inference mode the forward of a module with a full hook raises RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), weights=[2], number=3, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
