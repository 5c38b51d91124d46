"""gradient.accumulated.frees_grad: Setting .grad to None in a post-accumulate hook frees the gradient while backward goes on.

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
    import weakref

    seen = []
    arrived = []
    alive = []

    def hook(x, frees):
        seen.append(item(x.grad))
        if frees:
            x.grad = None

    x, other = leaf(1), leaf(1)
    x.register_post_accumulate_grad_hook(lambda x: arrived.append(weakref.ref(x.grad)))
    for frees in hooks:
        x.register_post_accumulate_grad_hook(lambda x, frees=frees: hook(x, frees))
    # The same pass reaches this leaf later: is the gradient of x still there?
    other.register_hook(lambda grad: alive.append(arrived[-1]() is not None))
    expected, now, total, held = [], None, 0, []
    for grad in passes:
        (grad * other * x).backward()
        now, total = (now or 0) + grad, total + grad
        for frees in hooks:
            expected.append(now)
            now = None if frees and subject.value else now
        held.append(now is not None)
        assert (seen, alive, item(x.grad), other.grad.item()) == (expected, held, now, total)


READINGS = {
    'freed (every torch): A gradient set to None in a post-accumulate hook is freed before the pass reaches the next leaf.': True,
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
