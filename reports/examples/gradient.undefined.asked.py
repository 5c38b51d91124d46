"""gradient.undefined.asked: autograd.grad calls the hook of an input whose gradient is undefined with None, and returns None.

Says which reading this torch has.
Checked by suites/gradient/test_undefined.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, hooks, other):
    seen, beside = [], []
    x, z = leaf(1), leaf(1)
    for _ in range(hooks):
        x.register_hook(lambda grad: seen.append(item(grad)))
        z.register_hook(lambda grad: beside.append(item(grad)))
    root = through_silent_function(x)
    wanted = [x] if other is None else [x, z]
    grads = torch.autograd.grad(root if other is None else root + other * z, wanted, allow_unused=True)
    calls, result, called = subject.value
    assert (seen, beside) == (calls * hooks, [other] * hooks if called and other is not None else [])
    assert [item(grad) for grad in grads] == [result, other][: len(wanted)]


READINGS = {
    'called (torch >=2.0): autograd.grad calls the hook of an input with None where its gradient is undefined.': ([None], None, True),
    'not called (torch >=1.7,<2.0): autograd.grad returns None for an undefined gradient, and calls no hook of its inputs.': ([], None, False),
    'zero (torch <1.7): autograd.grad returns zero where a custom Function left the gradient undefined, and calls no hook.': ([], 0.0, False),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, other=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
