"""gradient.accumulated.step_inside: A post-accumulate hook may change its leaf in place: grad mode is off, unless with create_graph.

Says which reading this torch has.
Checked by suites/gradient/test_steps.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, start, passes, frees):
    modes = []

    def step(x):
        modes.append(torch.is_grad_enabled())
        if not modes[-1]:
            x.sub_(x.grad)
        if frees:
            x.grad = None

    x = leaf(start)
    x.register_post_accumulate_grad_hook(step)
    held, now = 0, start
    for grad, create_graph in passes:
        torch.autograd.backward([grad * x], create_graph=create_graph)
        held += grad
        now -= 0 if create_graph or subject.value else held
        held = 0 if frees else held
    assert (x.item(), modes) == (now, [create_graph or subject.value for _, create_graph in passes])
    x.grad = None


READINGS = {
    'off (every torch): In a pass without create_graph a post-accumulate hook can change its leaf in place.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), start=3, passes=[(2, False)], frees=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
