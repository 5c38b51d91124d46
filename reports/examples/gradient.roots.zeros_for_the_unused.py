"""gradient.roots.zeros_for_the_unused: The zeros that materialize_grads=True returns for an unused tensor go through none of its hooks.

Says which reading this torch has.
Checked by suites/gradient/test_roots.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "materialize_grads" in inspect.signature(torch.autograd.grad).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.grad(materialize_grads)")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, uses):
    calls = []
    tensors = [leaf(1) for _ in uses]
    for number, tensor in enumerate(tensors):
        tensor.register_hook(lambda grad, number=number: calls.append(number) or grad + 7)
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    grads = torch.autograd.grad(root, tensors, materialize_grads=True)
    hooked = [number for number, by in enumerate(uses) if by or subject.value]
    assert sorted(calls) == hooked
    assert [grad.item() for grad in grads] == [by + (7 if number in hooked else 0) for number, by in enumerate(uses)]


READINGS = {
    'no hook (every torch): With materialize_grads=True the hooks of the used tensors are called once, those of the others not.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[2, 0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
