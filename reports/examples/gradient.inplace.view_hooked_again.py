"""gradient.inplace.view_hooked_again: A hook put on a hooked view after its base was changed is called, and the old one is not.

Says which reading this torch has.
Checked by suites/gradient/test_views.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def noting(seen, name):
    """A hook that writes down its name and what it is given."""

    def hook(grad):
        seen.append((name, grad.tolist()))

    return hook


def example(subject):
    results = []
    for read in (False, True):
        seen = []
        y = 3 * torch.ones(2, requires_grad=True)
        view = y[:1]
        view.register_hook(noting(seen, "a"))
        y.mul_(5)
        if read:
            assert view.grad_fn is not None
        hooks = len(view._backward_hooks or {})
        view.register_hook(noting(seen, "b"))
        (2 * view).sum().backward()
        results.append((hooks, [name for name, _ in seen]))
    assert results == subject.value


READINGS = {
    'called (torch >=2.15): A hook put on a view after its base was changed is called, whether view.grad_fn was read or not.': [(1, ['b']), (0, ['b'])],
    'when grad_fn was read (torch >=2.0,<2.15): A hook put on a hooked view after its base was changed is called only if view.grad_fn was read before.': [(1, []), (0, ['b'])],
    'never called (torch <2.0): A hook put on a hooked view after its base was changed is never called.': [(1, []), (1, [])],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
