"""gradient.membership.cleared: A hook that clears the dict of its tensor's hooks does not stop the later ones of the pass.

Says which reading this torch has.
Checked by suites/gradient/test_registered.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, before, after, again):
    calls = []
    x = leaf(1)
    for _ in range(before):
        x.register_hook(lambda grad: calls.append("before"))
    x.register_hook(lambda grad: x._backward_hooks.clear())
    for _ in range(after):
        x.register_hook(lambda grad: calls.append("after"))
    first = ["before"] * before + ["after"] * (after if subject.value else 0)
    (2 * x).backward()
    assert calls == first
    if again:
        x.register_hook(lambda grad: calls.append("again"))
    (2 * x).backward()
    assert calls == first + ["again"] * again


READINGS = {
    'still called (torch >=1.10): The hooks of a tensor are listed before the first one runs: clearing their dict stops none of them.': True,
    "gone at once (torch <1.10): A hook that clears the dict of its tensor's hooks stops the later ones of the pass.": False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), before=0, after=1, again=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
