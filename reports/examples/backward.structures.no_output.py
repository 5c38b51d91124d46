"""backward.structures.no_output: A hooked module that returns None warns in each call that its backward hooks will not be called.

Says which reading this torch has.
Checked by suites/backward/test_structures.py of torch-hook-conformance.
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


def example(subject, hooks, calls):
    module, _ = module_of(lambda x: None, hooks=hooks)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outs = [module(torch.ones(2, requires_grad=True)) for _ in range(calls)]
    assert (outs, [one.category.__name__ for one in caught]) == ([None] * calls, subject.value * calls)


READINGS = {
    'warned (torch >=2.0): A module with a full hook that returns None gives one UserWarning in each call.': ['UserWarning'],
    'in silence (torch <2.0): A module with a full hook may return None, and no warning is given.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
