"""backward.objects.pre_bare_tensor: A bare tensor from a pre-hook counts as the tuple of its rows: one for each output, or it raises.

Says which reading this torch has.
Checked by suites/backward/test_objects_returned.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_pre_hook")


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


def fill(number, size):
    """The nested lists of a tensor that is full of one number."""
    return torch.full(size, float(number)).tolist()


def bare(subject, size, count, returned, kind):
    """Demand that a bare tensor of threes counts as the reading has it: as its "rows", or the "whole" as one."""
    wanted = 1 if kind == "full_backward_pre" else count
    by = 2 if kind == "full_backward_pre" else 1
    due = ("TypeError" if not returned else "RuntimeError", [None] * count, kind == "full_backward_pre")
    if returned == ((wanted, *size) if subject.value == "rows" else size):
        due = ("accepted", [fill(3 * by, size)] * count, False)
    assert outcome(torch.full(returned, 3.0), kind, size, count) == due


def example(subject, size, count, returned):
    bare(subject, size, count, returned, "full_backward_pre")


READINGS = {
    'rows (every torch): A tensor whose one row has the shape of the output will do from a pre-hook.': 'rows',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=(1, 2), count=1, returned=(1, 2))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
