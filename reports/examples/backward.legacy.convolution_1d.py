"""backward.legacy.convolution_1d: The legacy hook of a Conv1d is given the gradients of input, weight and bias.

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
    left = size - kernel + 1
    due = [[batch, ins, size], [outs, ins, kernel], [outs] if bias else None]
    seen = shapes(lambda: torch.nn.Conv1d(ins, outs, kernel, bias=bias), batch, ins, size)
    assert seen == (due if subject.value else [[batch, outs, 1, left]], [[batch, outs, left]])


READINGS = {
    'of the convolution (torch >=1.11): The legacy hook of a Conv1d sits on the convolution.': True,
    'of a reshape (torch <1.11): The legacy hook of a Conv1d is given one 4-D gradient, that of an inner result.': False,
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
