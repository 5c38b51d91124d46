"""backward.structures.pre_other_outputs: The pre-hook of a module that returns a list, dict or the like does not run; a warning says so.

Says which reading this torch has.
Checked by suites/backward/test_structures.py of torch-hook-conformance.
"""

import torch
import warnings
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_pre_hook")


class Holder:
    """An object of no kind that torch knows."""

    def __init__(self, values):
        self.values = values


CONTAINERS = {
    "list": (list, list),
    "list_iterator": (iter, list),
    "dict": (lambda values: dict(enumerate(values)), lambda out: list(out.values())),
    "Holder": (Holder, lambda out: out.values),
}


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


def example(subject, name, by, hooks):
    put, take = CONTAINERS[name]
    seen = run(lambda x: put([one * x for one in by]), lambda out: sum(take(out)), "full_backward_pre", hooks)
    calls = [[[[1.0, 1.0]] * len(by)]] * hooks
    assert seen == (name, calls if subject.value else [], [float(sum(by))] * 2, ["UserWarning"])


READINGS = {
    'silent (every torch): A module with a pre-hook that returns a list or a dict has the right gradient.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), name='dict', by=[2], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
