"""retain.keep.not_by_itself: Without retain_grad() the .grad of an inner tensor stays None, and reading it warns.

Says which reading this torch has.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, row, hooks):
    import warnings

    tensors = [leaf(1)]
    for keep in row:
        tensors.append(2 * tensors[-1])
        if keep:
            tensors[-1].retain_grad()
        for _ in range(hooks):
            tensors[-1].register_hook(lambda grad: None)
    tensors[-1].backward()
    told = []
    for tensor in tensors:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            told.append((item(tensor.grad), [warning.category.__name__ for warning in caught]))
    grads = [2.0 ** (len(row) - place) for place in range(len(row) + 1)]
    quiet = [True, *row]
    assert told == [(grad, []) if keep else (None, subject.value) for grad, keep in zip(grads, quiet)]


READINGS = {
    'warns (torch >=1.5): Reading the .grad of an inner tensor that keeps nothing gives None and a UserWarning.': ['UserWarning'],
    'is silent (torch <1.5): Reading the .grad of an inner tensor that keeps nothing gives None without a warning.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=[False], hooks=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
