"""retain.modules.input_inside_forward: Under a full backward hook, retain_grad() inside forward keeps the gradient of forward's own view.

Says which reading this torch has.
Checked by suites/retain/test_modules.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, factors, times):
    inside = []

    class Times(torch.nn.Module):
        def forward(self, *xs):
            for x in xs:
                x.retain_grad()
                inside.append(x)
            return sum(by * x for by, x in zip(times, xs))

    module = Times()
    for by in factors:
        module.register_full_backward_hook(lambda module, sent, got, by=by: tuple(grad * by for grad in sent))
    xs = [leaf(1) for _ in times]
    module(*[1 * x for x in xs]).backward()
    own = prod(factors) if subject.value else 1
    assert [x.grad.item() for x in inside] == [by * own for by in times]
    assert [x.grad.item() for x in xs] == [by * prod(factors) for by in times]


READINGS = {
    "of the view (every torch): What full hooks return is in the gradient kept for the caller's tensor, not for forward's view.": False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[10], times=[2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
