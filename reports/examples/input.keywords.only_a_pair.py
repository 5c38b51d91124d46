"""input.keywords.only_a_pair: A with_kwargs pre-hook that returns neither None nor a tuple of two raises RuntimeError.

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


def example(subject, wrong, before, after):
    module, ran = echo(), []
    for number in range(before + 1 + after):
        module.register_forward_pre_hook(
            lambda module, args, kwargs, number=number: ran.append(number) or (wrong if number == before else None),
            with_kwargs=True,
        )
    try:
        ran.append(module(1))
    except RuntimeError as error:
        ran.append(type(error).__name__)
    if subject.value(wrong):
        assert ran == [*range(before + 1 + after), ((wrong,), {})]
    else:
        assert ran == [*range(before + 1), "RuntimeError"]


READINGS = {
    'refused (every torch): A single value that a with_kwargs pre-hook returns is not wrapped: RuntimeError.': lambda given: False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), wrong=5, before=0, after=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
