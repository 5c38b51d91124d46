"""gradient.undefined.unused_output: The hook of an unused output of a node that runs is called with None.

Says which reading this torch has.
Checked by suites/gradient/test_undefined.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, uses, passes):
    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    seen = [[] for _ in uses]
    for tensor, own in zip(tensors, seen):
        tensor.register_hook(lambda grad, own=own: own.append(item(grad)))
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    for _ in range(passes):
        root.backward(retain_graph=True)
    unused = {"None": [None], "zero": [0.0], "nothing": []}[subject.value]
    assert seen == [([by] if by else unused) * passes for by in uses]
    assert x.grad.tolist() == [by * passes for by in uses]


READINGS = {
    'called with None (every torch): The hook of an output of unbind() that is not used is called with None.': 'None',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[2, 0], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
