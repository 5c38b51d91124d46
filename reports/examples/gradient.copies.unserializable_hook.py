"""gradient.copies.unserializable_hook: Pickling a tensor does not warn about hooks marked by torch.utils.hooks.unserializable_hook.

Says which reading this torch has.
Checked by suites/gradient/test_copies.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.utils.hooks, "unserializable_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.utils.hooks.unserializable_hook")


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


def example(subject, marked):
    tensor = made("leaf")
    for mark in marked:
        hook = lambda grad: grad * 10
        tensor.register_hook(torch.utils.hooks.unserializable_hook(hook) if mark else hook)
    again, warned = told(lambda: stored(tensor, "pickle"))
    again.backward()
    assert (warned, again.grad.item()) == (WARNED * marked.count(False) + subject.value * marked.count(True), 1)


READINGS = {
    'in silence (torch >=2.4): Pickling a tensor does not warn about hooks that are marked as unserializable.': [],
    'warned all the same (torch <2.4): Pickling a tensor warns about each of its hooks, those marked as unserializable too.': ['backward hook'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), marked=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
