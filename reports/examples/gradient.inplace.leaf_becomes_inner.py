"""gradient.inplace.leaf_becomes_inner: The hooks of a leaf do not follow it when an in-place change makes it an inner tensor.

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
    seen = []
    y = torch.ones((), requires_grad=True)
    y.register_hook(noting(seen, "y"))
    y.requires_grad_(False)
    y.mul_(torch.tensor(3.0, requires_grad=True))
    (2 * y).backward()
    hooks = y._backward_hooks
    assert (seen, None if hooks is None else len(hooks)) == subject.value


READINGS = {
    'forgotten (torch >=2.0): No call, and `_backward_hooks` is None.': ([], None),
    'listed, not called (torch <2.0): No call, though `_backward_hooks` still lists the hook.': ([], 1),
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
