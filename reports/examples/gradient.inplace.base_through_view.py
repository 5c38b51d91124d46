"""gradient.inplace.base_through_view: A base that is changed through a view has a new version too, with hooks of its own.

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
    y = 3 * torch.ones(2, requires_grad=True)
    y.register_hook(noting(seen, "a"))
    y[:1].mul_(5)
    y.register_hook(noting(seen, "b"))
    (2 * y).sum().backward()
    assert seen == subject.value


READINGS = {
    'its own version (torch >=2.3): y[:1] *= 5 between a and b: b is given [2, 2], a [10, 2].': [('b', [2.0, 2.0]), ('a', [10.0, 2.0])],
    "the first hook's version (torch <2.3): Both are given [10, 2].": [('a', [10.0, 2.0]), ('b', [10.0, 2.0])],
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
