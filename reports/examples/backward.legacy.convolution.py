"""backward.legacy.convolution: The legacy hook of a Conv2d is given the gradients of input, weight and bias.

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


def example(subject, batch, channels, size, kernel, bias):
    ins, outs = channels
    due = [[batch, ins, size, size], [outs, ins, kernel, kernel], [outs] if bias else None]
    left = size - kernel + 1
    seen = shapes(lambda: torch.nn.Conv2d(ins, outs, kernel, bias=bias), batch, ins, size, size)
    assert seen == (due[: subject.value], [[batch, outs, left, left]])


READINGS = {
    'of the operation (every torch): The legacy hook of a Conv2d has None in place of a bias that is not there.': 3,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), batch=1, channels=(1, 2), size=5, kernel=3, bias=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
