"""retain.keep.no_hook_of_its_own: retain_grad() adds nothing to the Python hooks of the tensor.

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
    'nothing (torch >=1.10): `_backward_hooks` has what was registered.': 0,
    'a hook (torch <1.10): It is one hook in that dict, which pickling warns about.': 1,
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
