"""retain.nodes.leaf: For a leaf: tensor hooks, pre-hooks of its node, .grad, post-accumulate hooks, hooks of its node.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(getattr(torch.autograd, "Function", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.Function.register_prehook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


KINDS = ("tensor", "pre", "post_accumulate", "post")


PRE_HOOKS_FIRST = ("pre", "tensor", "post")


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, hooks, passes):
    seen = []
    x = leaf(1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    doors = {"tensor": x.register_hook, "pre": node.register_prehook, "post": node.register_hook}
    if "post_accumulate" in hooks:
        doors["post_accumulate"] = x.register_post_accumulate_grad_hook
    for number, kind in enumerate(hooks):
        doors[kind](lambda *given, number=number: seen.append((number, item(x.grad))))
    for _ in range(passes):
        (2 * x).backward()
    order = list(range(len(hooks)))
    if subject.value != "calls":
        first = KINDS if subject.value == "this order" else PRE_HOOKS_FIRST
        order.sort(key=lambda number: first.index(hooks[number]))
    totals = [None, *(2 * number for number in range(1, passes + 1))]
    expected = []
    for before, after in zip(totals, totals[1:]):
        expected += [(number, before if hooks[number] in ("tensor", "pre") else after) for number in order]
    assert seen == expected


READINGS = {
    'in this order (torch >=2.0): Hooks of a leaf run before the pre-hooks of its node; its post-accumulate hooks find the new .grad.': 'this order',
    'pre-hooks first (torch >=1.13,<2.0): For a leaf: pre-hooks of its node, tensor hooks, .grad, hooks of its node.': 'pre-hooks first',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=['post', 'tensor', 'pre', 'tensor'], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
