"""gradient.roots.batch: With is_grads_batched a hook is called once, with the shape of one gradient; what it returns counts.

Says which reading this torch has.
Checked by suites/gradient/test_roots.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "is_grads_batched" in inspect.signature(torch.autograd.grad).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.grad(is_grads_batched)")


def example(subject):
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = 2 * x
    x.register_hook(lambda grad: seen.append(("x", tuple(grad.shape))))
    y.register_hook(lambda grad: seen.append(("y", tuple(grad.shape))) or grad * 10)
    try:
        (grads,) = torch.autograd.grad([1 * y], [x], [torch.eye(2)], is_grads_batched=True)
        result = (seen, grads.tolist())
    except RuntimeError as error:
        result = type(error).__name__
    assert result == subject.value


READINGS = {
    'also at the input (torch >=2.0): x and y see (2,); the factor of y is in both rows.': ([('y', (2,)), ('x', (2,))], [[20.0, 0.0], [0.0, 20.0]]),
    'not at the input (torch >=1.12,<2.0): autograd.grad did not call the hooks of its inputs.': ([('y', (2,))], [[20.0, 0.0], [0.0, 20.0]]),
    'out of order (torch <1.12): 1.11 has the parameter, and raises.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
