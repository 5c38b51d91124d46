"""gradient.undefined.example_fails_after_a_function: So does it on a tensor before a custom Function whose backward returns None.

Says which reading this torch has.
Checked by suites/gradient/test_undefined.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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


def example(subject):
    x = torch.ones((), requires_grad=True)
    y = 2 * x
    y.register_hook(lambda grad: grad * 2)
    try:
        through_silent_function(y).backward()
        done = True
    except (TypeError, RuntimeError):
        done = False
    assert (done, item(x.grad)) == subject.value


READINGS = {
    'fails (torch >=1.7): The hook is given None.': (False, None),
    'works (torch <1.7): A None from a custom Function becomes zero.': (True, 0.0),
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
