"""output.calls.arity: A plain forward hook that cannot take (module, args, output) raises TypeError only at the call.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def takes(signature, count):
    """Whether a function of such a signature can be called with so many arguments."""
    required, optional, more = signature
    return required <= count and (more or count <= required + optional)


def function_of(signature):
    """A function of such a signature that does nothing."""
    required, optional, more = signature
    parameters = [f"r{number}" for number in range(required)] + [f"o{number}=None" for number in range(optional)]
    return eval(f"lambda {', '.join(parameters + ['*more'] * more)}: None")


def example(subject, signature, before, after):
    ran, module = [], torch.nn.Identity()
    for number in range(before):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number))
    module.register_forward_hook(function_of(signature))
    for number in range(before, before + after):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number))
    try:
        ran.append(module("x"))
    except TypeError as error:
        ran.append(type(error).__name__)
    fits = takes(signature, subject.value)
    assert ran == list(range(before + after if fits else before)) + (["x"] if fits else ["TypeError"])


READINGS = {
    'three (every torch): A plain forward hook is called with the module, the inputs and the output.': 3,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), signature=(2, 0, False), before=0, after=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
