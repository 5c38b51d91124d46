"""backward.legacy.loss: The legacy hook of an MSELoss is given the gradient of the input, and None for the target.

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


def example(subject, size, reduction):
    class Loss(torch.nn.MSELoss):
        def forward(self, x):
            return super().forward(x, torch.zeros(size))

    seen = shapes(lambda: Loss(reduction=reduction), *size)
    assert seen == ([size, *subject.value], [size if reduction == "none" else []])


READINGS = {
    'with target (torch >=1.7): The legacy hook of an MSELoss has an entry for the target too.': [None],
    'without target (torch <1.7): The legacy hook of an MSELoss is given the gradient of the input alone.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=[2], reduction='mean')
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
