"""gradient.passes.inside_a_hook: A hook may run a backward of its own; hooks called by that one run first, also of the same leaf.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, factors, by):
    seen = []
    x = leaf(1)
    left = factors[1:]

    def hook(grad):
        seen.append(("first", grad.item()))
        if left:
            with torch.enable_grad():
                (left.pop(0) * x).backward()
        return grad * by

    x.register_hook(hook)
    x.register_hook(lambda grad: seen.append(("second", grad.item())))
    (factors[0] * x).backward()
    run = factors if subject.value == "all" else factors[:1]
    nested = [("first", factor) for factor in run] + [("second", factor * by) for factor in reversed(run)]
    assert (seen, x.grad.item()) == (nested, by * sum(run))


READINGS = {
    'allowed (every torch): A pass in a hook of a pass, to any depth, is run at once; the gradients of all are accumulated.': 'all',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[1, 3], by=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
