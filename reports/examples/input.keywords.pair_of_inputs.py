"""input.keywords.pair_of_inputs: A with_kwargs pre-hook that returns two inputs as a tuple has them read as (args, kwargs).

Says which reading this torch has.
Checked by suites/input/test_keywords.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_pre_hook(with_kwargs)")


def echo():
    """A module that returns its arguments, as (args, kwargs)."""
    class Echo(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    return Echo()


def example(subject, x, y):
    module = echo()
    module.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    try:
        seen = module(x, y)
    except TypeError as error:
        seen = type(error).__name__
    if subject.value:
        due = ((x, y), {})
    elif isinstance(x, (list, tuple, str, dict)) and isinstance(y, dict):
        due = (tuple(x), y)
    else:
        due = "TypeError"
    assert seen == due


READINGS = {
    'misread (every torch): The second of two inputs is read as kwargs: TypeError unless it is a mapping.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=1, y=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
