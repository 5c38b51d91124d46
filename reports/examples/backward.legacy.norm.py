"""backward.legacy.norm: The legacy hook of a LayerNorm is given the gradients of input, weight and bias.

Says which reading this torch has.
Checked by suites/backward/test_legacy.py of torch-hook-conformance.
"""

import torch
import warnings
from types import SimpleNamespace


def shapes(make, *size):
    """Shapes of (grad_input, grad_output) that the legacy hook of a layer is given."""
    seen = []

    def hook(module, *grads):
        seen.append(tuple([None if grad is None else list(grad.shape) for grad in one] for one in grads))

    layer = make()
    layer.register_backward_hook(hook)
    out = layer(torch.ones(size, requires_grad=True) * 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    (grads,) = seen
    return grads


def example(subject, batch, size, affine):
    seen = shapes(lambda: torch.nn.LayerNorm(size, elementwise_affine=affine), *batch, *size)
    assert seen == ([[*batch, *size]] + [size if affine else None] * 2, [[*batch, *size], *subject.value])


READINGS = {
    'one output (torch >=1.10): The grad_output that the legacy hook of a LayerNorm is given has one entry.': [],
    'three outputs (torch <1.10): The grad_output that the legacy hook of a LayerNorm is given has two more entries, None.': [None, None],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), batch=[2], size=[3], affine=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
