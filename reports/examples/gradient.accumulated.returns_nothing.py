"""gradient.accumulated.returns_nothing: A post-accumulate hook returns None or the leaf; another tensor is a RuntimeError, else a TypeError.

Says which reading this torch has.
Checked by suites/gradient/test_steps.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, returned, had):
    calls = []
    x, other = leaf(1), leaf(1).detach()
    x.grad = None if had is None else leaf(had).detach()

    def hook(argument, what):
        calls.append("leaf" if argument is x else "tensor" if argument is other else "neither")
        return {"leaf": x, "tensor": other}[what] if isinstance(what, str) else what

    for what in returned:
        x.register_post_accumulate_grad_hook(lambda argument, what=what: hook(argument, what))
    result = outcome((2 * x).backward)
    expected, given_to, argument = "accepted", [], "leaf"
    for what in returned:
        given_to.append(argument)
        if not subject.value or what is None:
            continue
        if not isinstance(what, str):
            expected = "TypeError"
            break
        argument = what
        expected = "RuntimeError" if what == "tensor" else expected
    assert (result, calls, x.grad.item()) == (expected, given_to, (had or 0) + 2)


READINGS = {
    'refused (every torch): A post-accumulate hook that returns neither None nor the leaf ends backward() with an error.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=[3], had=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
