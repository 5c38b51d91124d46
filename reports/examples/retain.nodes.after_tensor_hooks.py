"""retain.nodes.after_tensor_hooks: Tensor hooks run before the pre-hooks of the node, whichever was registered first.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(getattr(getattr(torch.autograd, "graph", None), "Node", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.graph.Node.register_prehook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, hooks, passes):
    seen = []
    x = leaf(1)
    y = 3 * x
    for number, (kind, by) in enumerate(hooks):
        if kind == "pre":
            y.grad_fn.register_prehook(
                lambda grads, number=number, by=by: seen.append((number, grads[0].item())) or (grads[0] * by,)
            )
        else:
            y.register_hook(lambda grad, number=number, by=by: seen.append((number, grad.item())) or grad * by)
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    order = list(range(len(hooks)))
    if subject.value:
        order.sort(key=lambda number: hooks[number][0] == "pre")
    grad, expected = 2, []
    for number in order:
        expected.append((number, grad))
        grad *= hooks[number][1]
    assert (seen, x.grad.item()) == (expected * passes, 3 * grad * passes)


READINGS = {
    'before (every torch): Each kind in its order; the pre-hooks are given what all tensor hooks left.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('pre', 3), ('tensor', 10)], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
