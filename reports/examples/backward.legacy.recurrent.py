"""backward.legacy.recurrent: The legacy hook of an LSTM is given the gradients of its last layer: input, parameters and states.

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


def example(subject, steps, batch, sizes, layers, bias):
    ins, outs = sizes
    seen = shapes(lambda: torch.nn.LSTM(ins, outs, layers, bias=bias), steps, batch, ins)
    if subject.value:
        width = ins if layers == 1 else outs
        parameters = [[4 * outs, width], [4 * outs, outs]] + [[4 * outs] if bias else None] * 2
        assert seen == ([[steps, batch, width], *parameters, None, None], [[steps, batch, outs], None, None])
    else:
        assert seen == ([[batch, outs]] * steps, [[steps, batch, outs]])


READINGS = {
    'the last layer (torch >=2.0): The legacy hook of an LSTM has seven entries: input, four parameters, two states.': True,
    'each step (torch <2.0): The legacy hook of an LSTM is given one gradient for each step in time.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), steps=4, batch=1, sizes=(2, 3), layers=1, bias=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
