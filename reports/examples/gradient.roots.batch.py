"""gradient.roots.batch: With is_grads_batched each hook is called once, with the shape of one gradient, and may replace it.

Says which reading this torch has.
Checked by suites/gradient/test_roots.py of torch-hook-conformance.
"""

import inspect
import torch
from math import prod
from types import SimpleNamespace

if not "is_grads_batched" in inspect.signature(torch.autograd.grad).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.grad(is_grads_batched)")


def example(subject, rows, inner, inputs):
    seen = []
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = 2 * x
    for name, tensor, factors in (("y", y, inner), ("x", x, inputs)):
        for by in factors:
            tensor.register_hook(lambda grad, name=name, by=by: seen.append((name, tuple(grad.shape))) or grad * by)
    # A tuple: torch 1.11 takes no other sequence.
    gradients = (torch.tensor(rows, dtype=torch.float64),)
    (grads,) = torch.autograd.grad((1 * y,), (x,), gradients, is_grads_batched=True)
    called = [("y", by) for by in inner] + [("x", by) for by in inputs if subject.value]
    factor = 2 * prod(by for _, by in called)
    assert seen == [(name, (2,)) for name, _ in called]
    assert grads.tolist() == [[factor * value for value in row] for row in rows]


READINGS = {
    'hooks of inputs too (torch >=2.0): With is_grads_batched the hooks of inputs and of inner tensors are called once, and replace.': True,
    'no hooks of inputs (torch <2.0): With is_grads_batched the hook of an inner tensor is called once, that of an input not at all.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), rows=[[1, 0], [0, 1]], inner=[10], inputs=[3])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
