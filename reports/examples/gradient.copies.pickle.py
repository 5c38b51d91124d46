"""gradient.copies.pickle: A pickled tensor has lost its hooks, with a warning; a hook that cannot be pickled does not matter.

Says which reading this torch has.
Checked by suites/gradient/test_copies.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def made(kind):
    """A scalar tensor with the value 1: a leaf, an inner tensor or a parameter."""
    if kind == "parameter":
        return torch.nn.Parameter(leaf(1).detach())
    return 1 * leaf(1) if kind == "inner" else leaf(1)


def hooked(kind, factors):
    """Such a tensor with a hook for each factor."""
    tensor = made(kind)
    for by in factors:
        tensor.register_hook(lambda grad, by=by: grad * by)
    return tensor


def told(action):
    """What `action` returns, and the UserWarnings it gave, by their first words."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    about = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return result, [text[:13] for text in about]


def stored(tensor, way):
    """The tensor after a trip through pickle or torch.save."""
    import io
    import pickle

    if way == "pickle":
        return pickle.loads(pickle.dumps(tensor))
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


WARNED = ["backward hook"]


def example(subject, make, way, factors):
    tensor = hooked(make, factors)
    again, warned = told(lambda: stored(tensor, way))
    again.backward()
    assert (warned, again.is_leaf, again.grad.item()) == (WARNED * len(factors) if subject.value else [], True, 1)
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.item()))
    tensor.backward()
    # The original has kept its own.
    assert seen == [prod(factors)]


READINGS = {
    'lost, warned (every torch): Pickling a tensor warns once for each of its hooks; the copy is a leaf without hooks.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), make='leaf', way='pickle', factors=[10])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
