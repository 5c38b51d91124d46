"""backward.returns.legacy_wrong_length: A legacy hook that returns a tuple of another length or shape ends backward() with RuntimeError.

Says which reading this torch has.
Checked by suites/backward/test_returns_wrong.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def outcome(kind, returned, count = 1, grad = True, hooks = 1):
    """How backward() ends when the last hook of a doubling module returns this; .grad of the inputs, or the weight."""
    def made(part):
        if isinstance(part, tuple):
            return {"tuple": tuple, "list": list}[part[0]](made(one) for one in part[1])
        return {"g": torch.full((2,), 7.0), "row": torch.full((1, 2), 7.0), "scalar": torch.tensor(7.0)}.get(part, part)

    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((2,), 2.0))

        def forward(self, *xs):
            return self.weight * sum(xs)

    module, xs = Line(), [torch.ones(2, requires_grad=grad) for _ in range(count)]
    for number in range(hooks):
        value = made(returned) if number == hooks - 1 else None
        getattr(module, f"register_{kind}_hook")(lambda *given, value=value: value)
    out = module(*xs)
    try:
        out.backward(torch.ones(2))
        result = "accepted"
    except (RuntimeError, TypeError) as error:
        result = type(error).__name__
    return result, [None if x.grad is None else x.grad.tolist() for x in (xs if grad else [module.weight])]


def example(subject, grads, hooks):
    seen = outcome("backward", ("tuple", grads), hooks=hooks)
    if len(grads) == 2 and set(grads) <= {"g", None}:
        assert seen == ("accepted", [[7.0, 7.0] if grads[1] else None])
    else:
        assert seen == (subject.value, [None])


READINGS = {
    'refused (every torch): A legacy hook must return one gradient for each input of the operation, of its shape.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), grads=['g'], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
