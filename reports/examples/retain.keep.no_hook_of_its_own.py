"""retain.keep.no_hook_of_its_own: retain_grad() adds nothing to the _backward_hooks of the tensor.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, calls):
    y = 2 * leaf(1)
    for what in calls:
        if what == "retain":
            y.retain_grad()
        else:
            y.register_hook(lambda grad: None)
    hooks = y._backward_hooks
    count = calls.count("hook") + (subject.value if "retain" in calls else 0)
    assert (0 if hooks is None else len(hooks)) == count


READINGS = {
    'no entry (torch >=1.10): _backward_hooks holds only what was registered.': 0,
    "one entry (torch <1.10): retain_grad() is one entry of the tensor's _backward_hooks.": 1,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), calls=['retain'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
