"""backward.objects.kept_under_no_grad: Under no_grad a full hook replaces neither inputs nor outputs.

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


def example(subject, grads, hooks):
    with torch.no_grad():
        try:
            seen = same(*grads, hooks=hooks)
        except (AttributeError, RuntimeError) as error:
            seen = type(error).__name__
    assert seen == ([True] * (len(grads) + 1) if subject.value == "the same" else subject.value)


READINGS = {
    'the same (torch >=1.10): Under no_grad inputs and outputs of a hooked module are the objects they were.': 'the same',
    'RuntimeError (torch >=1.9,<1.10): Under no_grad the forward of a module with a full hook raises RuntimeError.': 'RuntimeError',
    'AttributeError (torch <1.9): Under no_grad the forward of a module with a full hook raises AttributeError.': 'AttributeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), grads=[True], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
