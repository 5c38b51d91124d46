"""retain.keep.attribute_is_read_only: Assigning to retains_grad raises AttributeError.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, kept, value):
    y = 2 * leaf(1)
    if kept:
        y.retain_grad()
    try:
        y.retains_grad = value
        result = "assigned"
    except AttributeError as error:
        result = type(error).__name__
    assert result == subject.value
    assert y.retains_grad is (value if result == "assigned" else kept)


READINGS = {
    'read-only (torch >=1.10): Assigning to retains_grad raises AttributeError.': 'AttributeError',
    'an attribute like any other (torch <1.10): retains_grad can be assigned like any attribute.': 'assigned',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kept=True, value=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
