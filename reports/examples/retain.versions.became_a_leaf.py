"""retain.versions.became_a_leaf: A kept tensor that becomes a leaf by detach_() has its gradient accumulated once.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    y.detach_()
    y.requires_grad_()
    (2 * y).backward()
    assert y.grad.item() == subject.value


READINGS = {
    'once (every torch): y.grad is 2.': 2.0,
    'twice (torch <2.0, a declared deviation): The old hook and the new accumulation both add to .grad: 4.': 4.0,
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
