"""backward.objects.no_broadcast: A full hook must return the exact shape: one that would sum or spread to it is refused.

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


def fill(number, size):
    """The nested lists of a tensor that is full of one number."""
    return torch.full(size, float(number)).tolist()


def example(subject, size, returned, hooks):
    (seen, grads, unwritten) = outcome((torch.full(returned, 3.0),), size=size, hooks=hooks)
    fits = returned == size
    assert (seen, unwritten) == ("accepted" if fits else subject.value, False)
    assert grads == [fill(3, size) if fits else None]


READINGS = {
    'refused (every torch): A gradient of another shape from a full hook raises RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=(1, 2), returned=(3, 1, 2), hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
