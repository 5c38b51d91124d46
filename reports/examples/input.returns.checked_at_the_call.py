"""input.returns.checked_at_the_call: A pre-hook that cannot take (module, args) is registered all the same; the call raises TypeError.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def echo():
    """A module that returns the tuple of its arguments."""
    class Echo(torch.nn.Module):
        def forward(self, *args):
            return args

    return Echo()


def takes(signature, count):
    """Whether a function of such a signature can be called with so many arguments."""
    required, optional, more = signature
    return required <= count and (more or count <= required + optional)


def function_of(signature):
    """A function of such a signature that does nothing."""
    required, optional, more = signature
    parameters = [f"r{number}" for number in range(required)] + [f"o{number}=None" for number in range(optional)]
    return eval(f"lambda {', '.join(parameters + ['*more'] * more)}: None")


def example(subject, wrong, before, after):
    module, ran = echo(), []
    for number in range(before):
        module.register_forward_pre_hook(lambda module, args, number=number: ran.append(number))
    where = "register"
    try:
        module.register_forward_pre_hook(function_of(wrong) if isinstance(wrong, tuple) else wrong)
        where = "call"
        for number in range(before, before + after):
            module.register_forward_pre_hook(lambda module, args, number=number: ran.append(number))
        ran.append(module("x"))
    except TypeError as error:
        ran.append(f"{where} {type(error).__name__}")
    if isinstance(wrong, tuple) and takes(wrong, 2):
        assert ran == [*range(before + after), ("x",)]
    else:
        assert ran == [*range(before if subject.value == "call" else 0), f"{subject.value} TypeError"]


READINGS = {
    'at the call (every torch): Registration looks at no pre-hook; its call raises TypeError where it does not fit.': 'call',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), wrong=(1, 0, False), before=0, after=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
