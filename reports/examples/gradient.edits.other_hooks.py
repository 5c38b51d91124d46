"""gradient.edits.other_hooks: An in-place change in a hook is seen by later hooks and in the tensor that an earlier one kept.

Says which reading this torch has.
Checked by suites/gradient/test_edits.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def edit(by):
    """A hook that multiplies its argument in place, and returns None."""
    return lambda grad: grad.mul_(by) and None


def replace(by):
    """A hook that returns the product instead."""
    return lambda grad: grad * by


def example(subject, does):
    kept = []
    x = leaf(1)
    for how, by in does:
        x.register_hook({"keep": kept.append, "edit": edit(by), "replace": replace(by)}[how])
    (2 * x).backward()
    now, keepsakes = [2.0], []
    for how, by in does:
        if how == "keep":
            keepsakes.append(now)
        elif how == "edit" and subject.value == "both":
            now[0] *= by
        else:
            now = [now[0] * by]
    assert ([grad.item() for grad in kept], x.grad.item()) == ([one[0] for one in keepsakes], now[0])


READINGS = {
    'both (every torch): A gradient that a hook kept follows every in-place change up to the next replacement.': 'both',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), does=[('keep', 1), ('edit', 5), ('keep', 1)])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
