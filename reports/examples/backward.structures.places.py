"""backward.structures.places: Inputs and outputs that are no tensors keep their place in grad_input and grad_output, with None.

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


def example(subject, ins, outs, by, hooks):
    def forward(*args):
        taken.extend(arg for arg, one in zip(args, ins) if one != "x")
        total = by * sum(arg for arg, one in zip(args, ins) if one == "x")
        return tuple((number + 1) * total if one == "x" else one for number, one in enumerate(outs))

    taken = []
    module, calls = module_of(forward, hooks=hooks)
    out = module(*(torch.ones(2, requires_grad=True) if one == "x" else one for one in ins))
    sum(part for part, one in zip(out, outs) if one == "x").sum().backward()
    grad = float(by * sum(number + 1 for number, one in enumerate(outs) if one == "x"))
    places = [[[grad] * 2 if one == "x" else None for one in ins], [[1.0] * 2 if one == "x" else None for one in outs]]
    if not subject.value:
        places = [[one for one in side if one is not None] for side in places]
    assert calls == [places] * hooks
    assert taken == [one for one in ins if one != "x"]
    assert [part for part, one in zip(out, outs) if one != "x"] == [one for one in outs if one != "x"]


READINGS = {
    'None (every torch): What is no tensor has None, before, between and behind the tensors.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ins=[7, 'x', 'text'], outs=[None, 'x', 7], by=2, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
