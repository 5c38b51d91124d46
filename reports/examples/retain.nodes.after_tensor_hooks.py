"""retain.nodes.after_tensor_hooks: Tensor hooks run before the pre-hooks of the node, whichever was registered first.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(getattr(torch.autograd, "Function", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.Function.register_prehook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def by_turns(kinds):
    """The kinds in the order in which their first hook was registered: that of torch 1.13."""
    return list(dict.fromkeys(kinds))


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
    first = {"tensor hooks first": ["tensor", "pre"], "by registration": by_turns([kind for kind, _ in hooks])}
    order = sorted(range(len(hooks)), key=lambda number: first[subject.value].index(hooks[number][0]))
    grad, expected = 2, []
    for number in order:
        expected.append((number, grad))
        grad *= hooks[number][1]
    assert (seen, x.grad.item()) == (expected * passes, 3 * grad * passes)


READINGS = {
    'tensor hooks first (torch >=2.0): Pre-hooks of a node are given what all hooks of the tensor left, whichever was registered first.': 'tensor hooks first',
    "by registration (torch >=1.13,<2.0): A tensor's hooks run after its node's pre-hooks if a pre-hook was registered before all of them.": 'by registration',
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
