"""backward.returns.full_without_input: A full hook that returns a gradient where no input needs one ends backward() with RuntimeError.

Says which reading this torch has.
Checked by suites/backward/test_returns_wrong.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


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


def example(subject, returned, count, hooks):
    nothing = returned is None or (isinstance(returned, tuple) and returned[0] == "tuple" and "g" not in returned[1])
    result = "accepted" if nothing else subject.value
    grads = [[float(count)] * 2] if result == "accepted" else [None]
    assert outcome("full_backward", returned, count, grad=False, hooks=hooks) == (result, grads)


READINGS = {
    'refused (every torch): Where no input needs a gradient, all but None and a tuple of None is refused.': 'RuntimeError',
    'never called (torch <1.9, a declared deviation): Where no input needs a gradient the full hook is not called, so nothing that it would return is refused.': 'accepted',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=('tuple', ['g']), count=1, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
