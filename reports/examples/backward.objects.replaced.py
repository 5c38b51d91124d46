"""backward.objects.replaced: With an input that needs a gradient all are replaced; so is an output that needs one, in any case.

Says which reading this torch has.
Checked by suites/backward/test_objects.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def same(*grads, kind = "full_backward", hooks = 1, frozen = False):
    """Whether inputs with or without gradient are the caller's objects in forward, and the output forward's."""
    inside = []

    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(()), requires_grad=not frozen)

        def forward(self, *xs):
            out = self.weight * sum(xs)
            inside.extend([*xs, out])
            return out

    module, xs = Sum(), [torch.ones((), requires_grad=grad) for grad in grads]
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    out = module(*xs)
    return [one is other for one, other in zip(inside, [*xs, out])]


def example(subject, grads, hooks, frozen):
    kept = [not grad and (subject.value or not any(grads)) for grad in grads]
    assert same(*grads, hooks=hooks, frozen=frozen) == [*kept, frozen and not any(grads)]


READINGS = {
    'all (torch >=1.11): With a full hook forward is given new tensors for all inputs if one needs a gradient.': False,
    "those that need one (torch <1.11): With a full hook an input that needs no gradient stays the caller's own object.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), grads=[True, False], hooks=1, frozen=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
