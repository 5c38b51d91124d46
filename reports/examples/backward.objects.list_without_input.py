"""backward.objects.list_without_input: Where no input needs a gradient a list of None is refused, while a tuple of None is taken.

Says which reading this torch has.
Checked by suites/backward/test_objects_returned.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def outcome(
    returned, kind = "full_backward", size = (1, 2), count = 1, grad = True, hooks = 1
):
    """How backward() ends when the last hook of a doubling module of some inputs returns this, and their .grad."""
    class Double(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, *xs):
            return self.weight * sum(xs)

    module, xs = Double(), [torch.ones(size, requires_grad=grad) for _ in range(count)]
    for number in range(hooks):
        value = returned if number == hooks - 1 else None
        getattr(module, f"register_{kind}_hook")(lambda *given, value=value: value)
    try:
        module(*xs).backward(torch.ones(size))
        seen = "accepted"
    except (RuntimeError, TypeError) as error:
        seen = type(error).__name__
    return seen, [None if x.grad is None else x.grad.tolist() for x in xs], module.weight.grad is None


def example(subject, as_list, length, count, hooks):
    returned = [None] * length if as_list else (None,) * length
    result = subject.value if as_list else "accepted"
    seen = outcome(returned, count=count, grad=False, hooks=hooks)
    assert seen == (result, [None] * count, result != "accepted")


READINGS = {
    'refused (torch >=1.9): Where no input needs a gradient, a full hook that returns a list ends backward().': 'RuntimeError',
    'never called (torch <1.9): Where no input needs a gradient, the full hook does not run, so nothing is refused.': 'accepted',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), as_list=True, length=1, count=1, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
