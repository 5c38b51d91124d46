"""tutorial.forward.t12_two_parameters: A forward hook may be written with the two parameters module and output.

Says which reading this torch has.
Checked by suites/tutorial/test_forward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def function_of(signature):
    """A function of such a signature that does nothing."""
    required, optional, more = signature
    parameters = [f"r{number}" for number in range(required)] + [f"o{number}=None" for number in range(optional)]
    return eval(f"lambda {', '.join(parameters + ['*more'] * more)}: None")


def takes(signature, count):
    """Whether a function of such a signature can be called with so many arguments."""
    required, optional, more = signature
    return required <= count and (more or count <= required + optional)


def example(subject, signature):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    double = Double()
    double.register_forward_hook(function_of(signature))
    try:
        seen = double(torch.tensor(3.0)).item()
    except TypeError as error:
        seen = type(error).__name__
    assert seen == (6.0 if any(takes(signature, count) for count in subject.value) else "TypeError")


READINGS = {
    'false (every torch): It can be registered, but the call of the module raises TypeError.': (3,),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), signature=(2, 0, False))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
