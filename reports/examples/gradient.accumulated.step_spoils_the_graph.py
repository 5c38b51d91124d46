"""gradient.accumulated.step_spoils_the_graph: A post-accumulate hook that changes a leaf which the graph saved ends a second pass: RuntimeError.

Says which reading this torch has.
Checked by suites/gradient/test_steps.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def example(subject, power, steps, by):
    x = leaf(3)
    for _ in range(steps):
        x.register_post_accumulate_grad_hook(lambda x: x.sub_(by) and None)
    y = 3 * x
    for _ in range(power - 1):
        y = y * x
    y.backward(retain_graph=True)
    first = x.grad.item()
    result = outcome(y.backward)
    expected = subject.value if power > 1 and steps else "accepted"
    assert (result, first) == (expected, 3 * power * 3 ** (power - 1))
    assert (x.item(), x.grad.item() == first) == (
        3 - steps * by * (1 if result != "accepted" else 2),
        result != "accepted",
    )


READINGS = {
    'raises (every torch): After a step in a post-accumulate hook a second pass fails where the graph saved the leaf.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), power=2, steps=1, by=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
