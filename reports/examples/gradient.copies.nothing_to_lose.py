"""gradient.copies.nothing_to_lose: Pickling does not warn about removed hooks.

Says which reading this torch has.
Checked by suites/gradient/test_copies.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def made(kind):
    """A scalar tensor with the value 1: a leaf, an inner tensor or a parameter."""
    if kind == "parameter":
        return torch.nn.Parameter(leaf(1).detach())
    return 1 * leaf(1) if kind == "inner" else leaf(1)


WARNED = ["backward hook"]


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


def example(subject, make, way, order):
    tensor = made(make)
    handles = [tensor.register_hook(print) for _ in order]
    for removed, place in enumerate(order):
        assert told(lambda: stored(tensor, way))[1] == WARNED * (len(order) - removed)
        handles[place].remove()
    assert told(lambda: stored(tensor, way))[1] == subject.value


READINGS = {
    'silent (every torch): Pickling a tensor warns about the hooks that it still has, and not about removed ones.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), make='leaf', way='pickle', order=[0, 1, 2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
