"""retain.nodes.before_pre_hooks: The gradient is kept before the pre-hooks of the tensor's node run; what these return is not in it.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace

if not hasattr(getattr(getattr(torch.autograd, "graph", None), "Node", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.graph.Node.register_prehook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, hooks, place, passes):
    found = []
    x = leaf(1)
    y = 3 * x

    def pre_hook(grads, by):
        found.append(item(y.grad))
        return (grads[0] * by,)

    for number, (kind, by) in enumerate([*hooks, ("none", 1)]):
        if number == min(place, len(hooks)):
            y.retain_grad()
        if kind == "pre":
            y.grad_fn.register_prehook(lambda grads, by=by: pre_hook(grads, by))
        elif kind == "tensor":
            y.register_hook(lambda grad, by=by: grad * by)
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    own = 2 * prod(by for kind, by in hooks if kind == "tensor" or not subject.value)
    pres = sum(kind == "pre" for kind, _ in hooks)
    totals = [own * (number + 1) for number in range(passes)]
    seen = totals if subject.value else [None, *totals[:-1]]
    assert found == [total for total in seen for _ in range(pres)]
    assert (y.grad.item(), x.grad.item()) == (totals[-1], passes * 6 * prod(by for _, by in hooks))


READINGS = {
    'before (every torch): Each pre-hook finds y.grad; it has the factors of the tensor hooks alone.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('pre', 10)], place=0, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
