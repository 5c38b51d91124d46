"""backward.structures.types_kept: A full hook keeps the type of a named tuple output; fields that are no tensors have None.

Says which reading this torch has.
Checked by suites/backward/test_structures_types.py of torch-hook-conformance.
"""

import collections
import torch
import warnings
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def show(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def module_of(function, kind = "full_backward", hooks = 1):
    """A hooked module that computes `function`, and what its hook was given: grad_input (if any) and grad_output."""
    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))
            self.child = torch.nn.Identity()

        def forward(self, *args, **kwargs):
            return function(*args, **kwargs)

    module = Module()
    calls = []

    def hook(owner, *grads):
        assert owner is module
        calls.append([show(one) for one in grads])

    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(hook)
    return module, calls


def run(function, take, kind = "full_backward", hooks = 1):
    """Type of the output, calls, x.grad and warnings when the loss is what `take` takes; or what raised."""
    module, calls = module_of(function, kind, hooks)
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = module(x)
            take(out).sum().backward()
        except (RuntimeError, TypeError) as error:
            return type(error).__name__
    assert x.grad is not None
    return type(out).__name__, calls, x.grad.tolist(), [one.category.__name__ for one in caught]


def example(subject, outs, hooks):
    def forward(x):
        return made(*((number + 1) * x if one == "x" else one for number, one in enumerate(outs)))

    def take(out):
        kept.extend(part for part, one in zip(out, outs) if one != "x")
        return sum(part for part, one in zip(out, outs) if one == "x")

    kept = []
    made = collections.namedtuple("Fields", [f"f{number}" for number in range(len(outs))])
    total = [float(sum(number + 1 for number, one in enumerate(outs) if one == "x"))] * 2
    calls = [[[total], [[1.0, 1.0] if one == "x" else None for one in outs]]] * hooks
    assert run(forward, take, hooks=hooks) == (subject.value, calls, total, [])
    assert kept == [one for one in outs if one != "x"]


READINGS = {
    'kept (torch >=2.2): With a full hook a named tuple that the module returns stays one.': 'Fields',
    'a plain tuple (torch <2.2): With a full hook a named tuple that the module returns becomes a plain tuple.': 'tuple',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), outs=['x', 'text'], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
