"""backward.legacy.linear: The legacy hook of a Linear has an order and shapes that depend on its bias and its input.

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


def example(subject, batches, features, bias):
    ins, outs = features
    for batch in batches:
        rows = 1
        for length in batch:
            rows *= length
        if len(batch) == 1:
            due = [[outs]] * bias + [[rows, ins], [ins, outs]]
        elif bias and len(batch) + 1 in subject.value:
            due = [[*batch, outs], [outs]]
        else:
            due = [[rows, outs]]
        assert shapes(lambda: torch.nn.Linear(ins, outs, bias=bias), *batch, ins) == (due, [[*batch, outs]])


READINGS = {
    'product alone (torch >=2.1): On an input that is no matrix the legacy hook of a Linear is given the product alone.': (),
    'sum for 1-D and 4-D (torch >=1.12,<2.1): On 1-D and 4-D inputs the legacy hook of a Linear is given the gradients of product and bias.': (1, 4),
    'sum for 1-D, 3-D and 4-D (torch <1.12): On 1-D, 3-D and 4-D inputs the legacy hook of a Linear is given the gradients of product and bias.': (1, 3, 4),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), batches=[[], [5, 4]], features=(3, 2), bias=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
