"""backward.structures.unseen_inputs: Where only tensors in containers or keywords need a gradient, the full hook runs at the output.

Says which reading this torch has.
Checked by suites/backward/test_structures.py of torch-hook-conformance.
"""

import collections
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


Fields = collections.namedtuple("Fields", "first second")


def example(subject, ways, keyword, hooks, plain):
    def forward(*args, **kwargs):
        return module.weight * sum([*args[: int(plain)], *xs, torch.zeros(2)])

    xs = [torch.ones(2, requires_grad=way != "later") for way in [*ways, *["keyword"] * keyword]]
    first = [torch.ones(2, requires_grad=True)] * plain
    module, calls = module_of(forward, hooks=hooks)
    hidden = {"list": lambda x: [x], "tuple": lambda x: (x,), "Fields": lambda x: Fields(x, None)}
    hidden.update(dict=lambda x: {"x": x}, later=lambda x: x)
    out = module(*first, *(hidden[way](x) for way, x in zip(ways, xs)), **({"x": xs[-1]} if keyword else {}))
    for x in xs:
        x.requires_grad_()
    out.sum().backward()
    if plain:  # It runs at the input, where a tensor without gradient counts with a zero.
        assert calls == [[[[2.0] * 2, *([0.0] * 2 if way == "later" else None for way in ways)], [[1.0] * 2]]] * hooks
    else:
        assert calls == [[[None] * len(ways), [[1.0] * 2]]] * hooks * subject.value
    assert [x.grad is None for x in xs] == [way == "later" for way in ways] + [False] * keyword


READINGS = {
    'at the output (torch >=1.9): Without an input that it sees, a full hook runs at the output.': True,
    'silent (torch <1.9): Where only tensors in containers or keywords need a gradient, no full hook runs.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ways=['list'], keyword=False, hooks=1, plain=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
