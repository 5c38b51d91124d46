"""gradient.membership.same_function_twice: One function registered several times is several hooks, each with its own handle.

Says which reading this torch has.
Checked by suites/gradient/test_registered.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, which, removed, inner):
    seen = []
    functions = [lambda grad: seen.append(0) or grad * 2, lambda grad: seen.append(1) or grad + 3]
    x = leaf(1)
    y = 1 * x
    handles = [(y if inner else x).register_hook(functions[name]) for name in which]
    left = list(enumerate(which))
    for place in [None, *removed]:
        if place is not None and place < len(handles):
            handles[place].remove()
            left = [one for one in left if one[0] != place]
        called = [name for _, name in left] if subject.value else sorted({name for _, name in left})
        grad = 1
        for name in called:
            grad = grad + 3 if name else grad * 2
        x.grad = None
        seen.clear()
        y.backward(retain_graph=True)
        assert (seen, x.grad.item()) == (called, grad)


READINGS = {
    'one for each (every torch): A function is called as often as it is registered, less the handles removed.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), which=[0, 0], removed=[1], inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
