"""retain.nodes.before_node_hooks: What hooks of a tensor's node return is in no kept gradient of that tensor, only further upstream.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, factors, passes, retain_first):
    x = leaf(1)
    y = 3 * x
    if retain_first:
        y.retain_grad()
    for by in factors:
        y.grad_fn.register_hook(lambda sent, got, by=by: tuple(None if grad is None else grad * by for grad in sent))
    if not retain_first:
        y.retain_grad()
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    own = prod(factors) if subject.value else 1
    assert (y.grad.item(), x.grad.item()) == (2 * own * passes, 6 * prod(factors) * passes)


READINGS = {
    "upstream only (every torch): What hooks of a tensor's node return goes on upstream and is not in the tensor's kept gradient.": False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[10], passes=1, retain_first=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
