"""retain.versions.detached: detach_() leaves retains_grad True, on what is now a leaf that requires no gradient.

Says which reading this torch has.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    y.detach_()
    assert (y.is_leaf, y.requires_grad, y.retains_grad) == subject.value


READINGS = {
    'stays True (every torch): requires_grad is False, retains_grad True.': (True, False, True),
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
