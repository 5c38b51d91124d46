"""gradient.inplace.view_is_lost: Hooks of a view are not called for uses of it after the view or its base was changed in place.

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


def example(subject, change_view, by, before, hooks):
    seen = []
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:1]
    for number in range(hooks):
        view.register_hook(noting(seen, str(number)))
    early = None if before is None else (before * view).sum()
    (view if change_view else y).mul_(by)
    late = (2 * view).sum()
    (late if early is None else late + early).backward()
    grad = (before or 0) + (2 * by if subject.value else 0)
    called = subject.value or before is not None
    assert seen == [(str(number), [float(grad)]) for number in range(hooks) if called]
    assert x.grad.tolist() == [3.0 * ((before or 0) + 2 * by), 0.0]


READINGS = {
    "not called (every torch): After an in-place change of a view or its base a view's hook is given the earlier uses' gradient alone.": False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), change_view=True, by=5, before=None, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
