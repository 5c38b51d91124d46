"""gradient.lifetime.with_handle: Leaving a with-block on the handle of a tensor hook removes it, also when the block raises.

Says which reading this torch has.
Checked by suites/gradient/test_handles.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, order, fails, beside):
    import contextlib

    calls = []
    x = leaf(1)
    handles = [x.register_hook(lambda grad, number=number: calls.append(number)) for number in range(len(order))]
    for _ in range(beside):
        x.register_hook(lambda grad: calls.append(-1))
    inside = set(range(len(order)))

    def passes():
        calls.clear()
        (2 * x).backward()
        assert calls == sorted(inside) + [-1] * beside

    def enter(depth):
        if depth == len(order):
            passes()
            if fails:
                raise KeyError("the block may raise")
            return
        try:
            with handles[order[depth]] as same:
                assert same is handles[order[depth]]
                enter(depth + 1)
        finally:
            if subject.value:
                inside.remove(order[depth])
            passes()

    with contextlib.suppress(KeyError):
        enter(0)


READINGS = {
    'removed (every torch): Each with-block on a handle takes its own hook away when it is left, and no other.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), order=[0], fails=False, beside=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
