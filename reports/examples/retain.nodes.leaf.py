"""retain.nodes.leaf: For a leaf: tensor hooks, pre-hooks of its node, .grad, post-accumulate hooks, hooks of its node.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(getattr(getattr(torch.autograd, "graph", None), "Node", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.graph.Node.register_prehook")
if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


KINDS = ("tensor", "pre", "accumulated", "post")


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, hooks, passes):
    seen = []
    x = leaf(1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    doors = (x.register_hook, node.register_prehook, x.register_post_accumulate_grad_hook, node.register_hook)
    for number, kind in enumerate(hooks):
        door = doors[KINDS.index(kind)]
        door(lambda *given, number=number: seen.append((number, item(x.grad))))
    for _ in range(passes):
        (2 * x).backward()
    order = list(range(len(hooks)))
    if subject.value:
        order.sort(key=lambda number: KINDS.index(hooks[number]))
    totals = [None, *(2 * number for number in range(1, passes + 1))]
    expected = []
    for before, after in zip(totals, totals[1:]):
        expected += [(number, after if KINDS.index(hooks[number]) > 1 else before) for number in order]
    assert seen == expected


READINGS = {
    'in this order (every torch): Each kind in order of registration; the last two find the new .grad.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=['post', 'accumulated', 'pre', 'tensor'], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
