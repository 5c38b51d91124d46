"""gradient.copies.pickled_parameter: A pickled parameter loses its hooks without the warning that other tensors get.

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


def example(subject, way, factors):
    tensor = hooked("parameter", factors)
    again, warned = told(lambda: stored(tensor, way))
    for one in (again, tensor):
        one.backward()
    assert (warned, again.grad.item(), tensor.grad.item()) == (subject.value, 1, prod(factors))


READINGS = {
    'in silence (every torch): Pickling a hooked parameter does not warn; the copy has no hook, the original keeps its own.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), way='pickle', factors=[10])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
