"""backward.structures.rebuilt: A module with a full hook may return any class of tuple, such as those of torch.return_types.

Says which reading this torch has.
Checked by suites/backward/test_structures_types.py of torch-hook-conformance.
"""

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


class Pair(tuple):
    """A tuple made from one iterable, as tuples are."""


def example(subject):
    assert [
        run(lambda x: torch.max(2 * x.view(2, 1), 1), lambda out: out[0]),
        run(lambda x: Pair((2 * x, 3 * x)), lambda out: out[0]),
        run(lambda x: Pair((2 * x,)), lambda out: out[0]),
    ] == subject.value


READINGS = {
    'rebuilt from its tensors (torch >=2.2): With a full hook a tuple class that does not take its items one by one raises TypeError, or changes.': ['TypeError', 'TypeError', ('Pair', [[[[2.0, 0.0]], [[1.0, 0.0]]]], [2.0, 0.0], [])],
    'a plain tuple (torch <2.2): With a full hook an output of a tuple class becomes a plain tuple.': [('tuple', [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], []), ('tuple', [[[[2.0, 2.0]], [[1.0, 1.0], None]]], [2.0, 2.0], []), ('tuple', [[[[2.0, 2.0]], [[1.0, 1.0]]]], [2.0, 2.0], [])],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
