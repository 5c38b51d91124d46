"""backward.structures.sparse: A sparse input that needs a gradient cannot pass a module with a full hook.

Says which reading this torch has.
Checked by suites/backward/test_structures_types.py of torch-hook-conformance.
"""

import torch
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


def example(subject, size, grad, hooks):
    module, _ = module_of(lambda x: x.to_dense(), hooks=hooks)
    try:
        seen = module(torch.eye(size).to_sparse().requires_grad_(grad)).tolist()
    except (NotImplementedError, RuntimeError) as error:
        seen = type(error).__name__
    # Without a hook, or without a gradient, it passes.
    assert seen == (subject.value if grad and hooks else torch.eye(size).tolist())


READINGS = {
    'NotImplementedError (torch >=1.9): A sparse input with a gradient to a module with a full hook raises NotImplementedError.': 'NotImplementedError',
    'RuntimeError (torch <1.9): A sparse input with a gradient to a module with a full hook raises RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=2, grad=True, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
