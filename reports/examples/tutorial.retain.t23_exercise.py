"""tutorial.retain.t23_exercise: With c = a*b and e = c*d and hooks on c, d and e, e.grad is 2: the doubled gradient is kept.

Says which reading this torch has.
Checked by suites/tutorial/test_tensor.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    a, b, d = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    printed = []
    c = a * b
    c.register_hook(lambda grad: grad + 2)
    c.register_hook(lambda grad: printed.append(grad.item()))
    c.retain_grad()
    d.register_hook(lambda grad: grad + 100)
    e = c * d
    e.retain_grad()
    e.register_hook(lambda grad: grad * 2)
    e.backward()
    grads = {name: tensor.grad.item() for name, tensor in (("a", a), ("b", b), ("c", c), ("d", d), ("e", e))}
    assert dict(printed=printed, **grads) == subject.value


READINGS = {
    'true (torch >=2.0): With a doubling hook on e after e.retain_grad(), e.grad is the doubled gradient: 2.': {'printed': [10.0], 'a': 30.0, 'b': 20.0, 'c': 10.0, 'd': 112.0, 'e': 2.0},
    'false (torch <2.0): With a doubling hook on e after e.retain_grad(), e.grad is the gradient before it: 1.': {'printed': [10.0], 'a': 30.0, 'b': 20.0, 'c': 10.0, 'd': 112.0, 'e': 1.0},
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
