"""backward.twice.output_missed: A full hook does not run when the gradient reaches the input without passing the output.

Says which reading this torch has.
Checked by suites/backward/test_twice.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def value(number):
    """A float64 scalar that requires grad: small integers stay exact."""
    return torch.tensor(float(number), dtype=torch.float64, requires_grad=True)


def example(subject, way, number, hooks):
    class Nested(torch.nn.Module):
        def forward(self, x):
            self.inner = number * x
            wrapped = {"list": [self.inner], "dict": {0: self.inner}, "tuple": (self.inner,)}
            return 2 * x, wrapped.get(way)

    module, calls, x = Nested(), [], value(1)
    for _ in range(hooks):
        module.register_full_backward_hook(lambda *given: calls.append("called"))
    out = module(x)
    root = module.inner if way == "taken" else out[1][0]
    try:
        root.backward()
        seen = "silent"
        assert x.grad.item() == number
    except RuntimeError as error:
        seen = type(error).__name__
    assert (seen, calls) == (subject.value, [])
    # A pass through the output calls them all.
    module(value(1))[0].backward()
    assert len(calls) == hooks


READINGS = {
    'silent (torch >=1.13): A full hook whose output was passed by is not called, and the gradient is right.': 'silent',
    "refused (torch <1.13): backward() that reaches a full hook's input past its output raises RuntimeError.": 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), way='list', number=1, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
