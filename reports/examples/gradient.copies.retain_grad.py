"""gradient.copies.retain_grad: Pickling a tensor that keeps its gradient does not warn; the copy is a leaf.

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


def told(action):
    """What `action` returns, and the UserWarnings it gave, by their first words."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = action()
    about = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return result, [text[:13] for text in about]


WARNED = ["backward hook"]


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


def example(subject, calls, way):
    tensor = made("inner")
    for what in calls:
        if what == "retain":
            tensor.retain_grad()
        else:
            tensor.register_hook(print)
    again, warned = told(lambda: stored(tensor, way))
    expected = WARNED * calls.count("hook") + (subject.value if "retain" in calls else [])
    assert (warned, again.is_leaf) == (expected, True)


READINGS = {
    'silent (torch >=1.10): Pickling a tensor that keeps its gradient does not warn: retain_grad() is no hook to lose.': [],
    'warns (torch <1.10): Pickling a tensor that keeps its gradient warns of a lost hook; the copy is a leaf.': ['backward hook'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), calls=['retain'], way='pickle')
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
