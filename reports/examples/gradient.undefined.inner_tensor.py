"""gradient.undefined.inner_tensor: The hook of an inner tensor whose gradient is undefined is called with None.

Says which reading this torch has.
Checked by suites/gradient/test_undefined.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def through_silent_function(x):
    """x * 1, by a custom Function whose backward returns None."""
    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return None

    return Silent.apply(x)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, before, after, hooks):
    x = leaf(1)
    row, seen = [x], []
    for _ in range(before):
        row.append(2 * row[-1])
    row.append(through_silent_function(row[-1]))
    for _ in range(after):
        row.append(2 * row[-1])
    for place, tensor in enumerate(row[1:], 1):
        for _ in range(hooks):
            tensor.register_hook(lambda grad, place=place: seen.append((place, item(grad))))
    row[-1].backward()
    defined = [(before + 1 + step, 2.0 ** (after - step)) for step in range(after, -1, -1)]
    undefined = [(place, subject.value) for place in range(before, 0, -1)]
    assert seen == [call for call in defined + undefined for _ in range(hooks)]
    assert item(x.grad) == subject.value


READINGS = {
    'called with None (torch >=1.7): What a custom Function leaves undefined is None in the hooks of all inner tensors upstream.': None,
    'made zero (torch <1.7): What a custom Function leaves undefined is zero in the hooks of inner tensors upstream.': 0.0,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), before=1, after=0, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
