"""gradient.undefined.leaf: The hooks of a leaf whose gradient is undefined are called with None.

Says which reading this torch has.
Checked by suites/gradient/test_undefined.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


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


def example(subject, hooks, had, passes):
    seen = []
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    for _ in range(hooks):
        x.register_hook(lambda grad: seen.append(item(grad)))
    for _ in range(passes):
        through_silent_function(x).backward()
    calls, added = subject.value
    assert (seen, item(x.grad)) == (calls * hooks * passes, added if had is None else had)


READINGS = {
    'called with None (torch >=2.0): The hooks of a leaf whose gradient is undefined are called with None, though nothing is accumulated.': ([None], None),
    'not called (torch >=1.7,<2.0): The hooks of a leaf whose gradient is undefined are not called.': ([], None),
    'made zero (torch <1.7): The hooks of a leaf are called with zero where a custom Function leaves the gradient undefined.': ([0.0], 0.0),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, had=None, passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
