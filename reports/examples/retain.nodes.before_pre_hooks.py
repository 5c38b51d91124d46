"""retain.nodes.before_pre_hooks: The gradient is kept before the pre-hooks of the tensor's node run; what these return is not in it.

Says which reading this torch has.
Checked by suites/retain/test_nodes.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace

if not hasattr(getattr(torch.autograd, "Function", None), "register_prehook"): raise SystemExit("torch " + torch.__version__ + " has no torch.autograd.Function.register_prehook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def by_turns(kinds):
    """The kinds in the order in which their first hook was registered: that of torch 1.13."""
    return list(dict.fromkeys(kinds))


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

    row = [*hooks[:place], ("keep", 1), *hooks[place:]]
    for kind, by in row:
        if kind == "keep":
            y.retain_grad()
        elif kind == "pre":
            y.grad_fn.register_prehook(lambda grads, by=by: pre_hook(grads, by))
        else:
            y.register_hook(lambda grad, by=by: grad * by)
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    orders = {
        "before": ["tensor", "keep", "pre"],
        "after": ["tensor", "pre", "keep"],
        "turns": by_turns([kind for kind, _ in row]),
    }
    order = orders[subject.value]
    kept_after = order[: order.index("keep")]
    own = 2 * prod(by for kind, by in hooks if kind in kept_after)
    pres = sum(kind == "pre" for kind, _ in hooks)
    totals = [own * (number + 1) for number in range(passes)]
    seen = [None, *totals[:-1]] if "pre" in kept_after else totals
    assert found == [total for total in seen for _ in range(pres)]
    assert (y.grad.item(), x.grad.item()) == (totals[-1], passes * 6 * prod(by for _, by in hooks))


READINGS = {
    'before pre-hooks (torch >=2.0): Pre-hooks of a node find the kept gradient in .grad, and what they return is not in it.': 'before',
    'by what came first (torch >=1.13,<2.0): What pre-hooks of a node return is in the kept gradient, unless retain_grad() came before the first.': 'turns',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('pre', 10), ('tensor', 3)], place=1, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
