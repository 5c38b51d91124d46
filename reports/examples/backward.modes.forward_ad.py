"""backward.modes.forward_ad: Forward-mode differentiation cannot pass a module with a full hook.

Says which reading this torch has.
Checked by suites/backward/test_modes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
if not hasattr(getattr(torch.autograd, "forward_ad", None), "dual_level"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.forward_ad.dual_level")


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


def example(subject):
    from torch.autograd import forward_ad

    module, x = line([]), torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        try:
            seen = forward_ad.unpack_dual(module(forward_ad.make_dual(x, torch.tensor(1.0))))[1]
        except (NotImplementedError, RuntimeError) as error:
            seen = type(error).__name__
    assert seen == subject.value


READINGS = {
    "NotImplementedError (torch >=1.10): The hook's node has no jvp.": 'NotImplementedError',
    "RuntimeError (torch >=1.9,<1.10): The hook's node is a view without forward AD.": 'RuntimeError',
    'no tangent (torch <1.9): Nothing is raised, and the tangent is lost.': None,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
