"""gradient.passes.grad_mode_of_the_hook: create_graph alone decides the grad mode in hooks, and no hook changes the grad mode of the caller.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, passes, sets):
    seen, after = [], []
    x = leaf(1)
    y = x * x
    for tensor in (y, x):
        tensor.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    if sets is not None:
        x.register_hook(lambda grad: torch.set_grad_enabled(sets) and None)
    for create_graph, caller in passes:
        with torch.set_grad_enabled(caller):
            torch.autograd.backward([y], retain_graph=True, create_graph=create_graph)
            after.append(torch.is_grad_enabled())
        x.grad = None
    modes = [create_graph if subject.value == "create_graph" else caller for create_graph, caller in passes]
    assert seen == [mode for mode in modes for _ in range(2)]
    assert after == [caller for _, caller in passes]


READINGS = {
    "create_graph decides (every torch): Whatever the caller's mode is, which is as before.": 'create_graph',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[(True, False)], sets=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
