"""backward.structures.subclass_kept: A full hook keeps the class of a tensor that the module returns, and runs.

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


def example(subject, by, alone, hooks):
    class Special(torch.Tensor):
        pass

    def forward(x):
        made = tuple((one * x).as_subclass(Special) for one in by)
        return made[0] if alone else made

    module, calls = module_of(forward, hooks=hooks)
    out = module(torch.ones(2, requires_grad=True))
    outs = [out] if alone else [*out]
    assert [type(one).__name__ for one in outs] == [subject.value] * len(outs)
    sum(one.sum() for one in outs).backward()
    assert calls == [[[[float(sum(by[: len(outs)]))] * 2], [[1.0] * 2] * len(outs)]] * hooks


READINGS = {
    'kept (torch >=2.2): With a full hook a tensor subclass that the module returns stays one.': 'Special',
    'lost (torch <2.2): With a full hook a tensor subclass that the module returns becomes a plain tensor.': 'Tensor',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), by=[2], alone=True, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
