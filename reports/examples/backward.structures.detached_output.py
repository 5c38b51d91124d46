"""backward.structures.detached_output: A detached tensor among the outputs has None in grad_output, and stays without gradient.

Says which reading this torch has.
Checked by suites/backward/test_structures.py of torch-hook-conformance.
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


def example(subject, needs_grad, hooks):
    module, calls = module_of(lambda x: tuple(2 * x if one else x.detach() for one in needs_grad), hooks=hooks)
    try:
        out = module(torch.ones(2, requires_grad=True))
        sum(out).sum().backward()
        seen = [one.requires_grad for one in out]
    except AttributeError as error:
        seen = type(error).__name__
    if subject.value == "AttributeError" and not needs_grad[0]:
        assert (seen, calls) == ("AttributeError", [])
    else:
        grads = [[[2.0 * sum(needs_grad)] * 2], [[1.0] * 2 if one else None for one in needs_grad]]
        assert (seen, calls) == (needs_grad, [grads] * hooks)


READINGS = {
    'None (torch >=1.9): A full hook has None for a detached output, whichever output comes first.': 'None',
    'refused (torch <1.9): With a full hook the forward raises AttributeError if its first output is detached.': 'AttributeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), needs_grad=[False, True], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
