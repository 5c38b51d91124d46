"""gradient.accumulated.frees_grad: Setting .grad to None in the hook frees the gradient while backward goes on.

Says which reading this torch has.
Checked by suites/gradient/test_steps.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, hooks, passes):
    seen = []

    def hook(x, frees):
        seen.append(item(x.grad))
        if frees:
            x.grad = None

    x, other = leaf(1), leaf(1)
    for frees in hooks:
        x.register_post_accumulate_grad_hook(lambda x, frees=frees: hook(x, frees))
    expected, now, total = [], None, 0
    for grad in passes:
        (grad * x * other).backward()
        now, total = (now or 0) + grad, total + grad
        for frees in hooks:
            expected.append(now)
            now = None if frees and subject.value else now
        assert (seen, item(x.grad), other.grad.item()) == (expected, now, total)


READINGS = {
    'freed (every torch): Later hooks find None, and the next pass begins anew.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[True], passes=[2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
