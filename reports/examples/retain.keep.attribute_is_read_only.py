"""retain.keep.attribute_is_read_only: retains_grad cannot be assigned.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    y = 2 * torch.ones((), requires_grad=True)
    y.retain_grad()
    try:
        y.retains_grad = False
        result = "assigned"
    except AttributeError as error:
        result = type(error).__name__
    assert result == subject.value


READINGS = {
    'read-only (torch >=1.10): AttributeError.': 'AttributeError',
    'an attribute like any other (torch <1.10): Assigned without a word.': 'assigned',
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
