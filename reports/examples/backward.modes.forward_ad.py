"""backward.modes.forward_ad: Forward-mode differentiation through a module with a full hook raises NotImplementedError.

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


def example(subject, weight, hooks):
    from torch.autograd import forward_ad

    module, x = line([], weight=weight, hooks=hooks), torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        try:
            seen = forward_ad.unpack_dual(module(forward_ad.make_dual(x, torch.tensor(1.0))))[1]
            seen = seen if seen is None else seen.item()
        except (NotImplementedError, RuntimeError) as error:
            seen = type(error).__name__
    # Without a hook the tangent passes, on a torch whose operations pass any.
    assert seen == (subject.value if hooks or subject.value is None else weight)


READINGS = {
    'NotImplementedError (torch >=1.10): The node of a full hook has no jvp.': 'NotImplementedError',
    'RuntimeError (torch >=1.9,<1.10): Forward-mode differentiation through a module with a full hook raises RuntimeError.': 'RuntimeError',
    'no tangent (torch <1.9): Forward-mode differentiation loses the tangent at every operation, hooks or none.': None,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), weight=2, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
