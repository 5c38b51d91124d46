"""gradient.inplace.view_is_lost: Hooks of a view are not called after the view or its base was changed in place.

Says which reading this torch has.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
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
    for change_view in (True, False):
        seen = []
        x = torch.ones(2, requires_grad=True)
        y = 3 * x
        view = y[:1]
        view.register_hook(noting(seen, "v"))
        (view if change_view else y).mul_(5)
        (2 * view).sum().backward()
        results.append((seen, x.grad.tolist()))
    assert results == subject.value


READINGS = {
    'not called (every torch): Neither after view *= 5 nor after base *= 5, though x.grad is right.': [([], [30.0, 0.0]), ([], [30.0, 0.0])],
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
