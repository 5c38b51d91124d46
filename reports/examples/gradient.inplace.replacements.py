"""gradient.inplace.replacements: What a hook of each version returns counts where that version is: between the in-place changes.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.register_hook(lambda grad: grad + 1)
    y.mul_(5)
    y.register_hook(lambda grad: grad + 100)
    (2 * y).backward()
    assert x.grad.item() == subject.value


READINGS = {
    'each in its place (torch >=2.0): ((2 + 100) * 5 + 1) * 3 = 1533.': 1533.0,
    'both at the first (torch <2.0): (2 * 5 + 1 + 100) * 3 = 333.': 333.0,
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
