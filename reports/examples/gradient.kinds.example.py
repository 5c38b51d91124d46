"""gradient.kinds.example: The example of the documentation holds: a hook that doubles the gradient doubles .grad.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, passes, removed):
    v = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    handle = v.register_hook(lambda grad: grad * 2)
    expected = [0, 0, 0]
    for number, gradient in enumerate(passes):
        if number == removed:
            handle.remove()
        v.backward(torch.tensor([float(value) for value in gradient]))
        factor = subject.value if number < removed else 1
        expected = [old + factor * new for old, new in zip(expected, gradient)]
        assert v.grad.tolist() == expected


READINGS = {
    "doubled (every torch): The documentation's hook, grad * 2, doubles what goes into .grad until it is removed.": 2,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[[1, 2, 3]], removed=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
