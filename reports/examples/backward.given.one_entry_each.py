"""backward.given.one_entry_each: grad_input has one entry for each positional input, grad_output one for each output.

Says which reading this torch has.
Checked by suites/backward/test_given_entries.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def show(grads):
    return [None if grad is None else grad.item() for grad in grads]


def example(subject, ins, outs, hooks):
    class Cross(torch.nn.Module):
        def forward(self, *xs):
            total = sum(by * x for by, x in zip(ins, xs))
            return tuple(by * total for by in outs)

    module, calls = Cross(), []
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, *grads: calls.append([show(one) for one in grads]))
    xs = [torch.ones((), requires_grad=True) for _ in ins]
    # Each output goes backward with a gradient of its own: 1, 2, 3 ...
    grads = [float(number + 1) for number in range(len(outs))]
    torch.autograd.backward(module(*xs), [torch.tensor(grad) for grad in grads])
    total = sum(by * grad for by, grad in zip(outs, grads))
    due = [[by * total for by in ins], grads]
    assert calls == [due if subject.value else [one[:2] for one in due]] * hooks
    assert show(x.grad for x in xs) == due[0]


READINGS = {
    'each its own (every torch): Each input and output of a module has its own gradient.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ins=[1, 2, 3], outs=[1, 2, 3], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
