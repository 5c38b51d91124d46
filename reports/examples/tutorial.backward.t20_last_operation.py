"""tutorial.backward.t20_last_operation: A legacy hook gets the gradients of the last operation: input (or None), weight and bias, mixed.

Says which reading this torch has.
Checked by suites/tutorial/test_legacy.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    from torch import nn

    linear = nn.Linear(2, 3)
    layers = {
        "Conv2d": (nn.Conv2d(1, 1, 2), torch.ones(1, 1, 3, 3)),
        "Linear": (nn.Linear(2, 3), torch.ones(4, 2)),
        "Sequential": (nn.Sequential(linear, nn.ReLU()), torch.ones(4, 2)),
    }
    listed = {}
    for name, (layer, x) in layers.items():
        seen = []
        layer.register_backward_hook(lambda module, grad_input, grad_output, seen=seen: seen.extend(grad_input))
        layer(x).sum().backward()
        inner = linear if name == "Sequential" else layer
        known = {
            tuple(inner.weight.shape): "weight",
            tuple(reversed(inner.weight.shape)): "weight transposed",
            tuple(inner.bias.shape): "bias",
        }
        listed[name] = ["None" if grad is None else known.get(tuple(grad.shape), "hidden") for grad in seen]
    assert listed == subject.value


READINGS = {
    'true (every torch): For Conv2d a legacy hook gets input, weight, bias; for Linear bias, input and transposed weight.': {'Conv2d': ['None', 'weight', 'bias'], 'Linear': ['bias', 'None', 'weight transposed'], 'Sequential': ['hidden']},
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
