"""tutorial.forward.t12_two_parameters: A forward hook may be written with the two parameters module and output.

Says which reading this torch has.
Checked by suites/tutorial/test_forward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


TAKES = {
    "module": {1},
    "module, output": {2},
    "module, inputs, output=None": {2, 3},
    "module, inputs, output": {3},
    "module, inputs, output, more": {4},
    "module, *others": {1, 2, 3, 4},
}


def example(subject, written):
    hooks = {
        "module, output": lambda module, output: None,
        "module, inputs, output": lambda module, inputs, output: None,
        "module, inputs, output, more": lambda module, inputs, output, more: None,
        "module, inputs, output=None": lambda module, inputs, output=None: None,
        "module, *others": lambda module, *others: None,
        "module": lambda module: None,
    }
    linear = torch.nn.Linear(1, 1)
    linear.register_forward_hook(hooks[written])
    result = outcome(lambda: linear(torch.ones(1)), (TypeError,))
    assert result == ("accepted" if TAKES[written].intersection(subject.value) else "TypeError")


READINGS = {
    'false (every torch): A forward hook with two parameters can be registered, but the call of the module raises TypeError.': (3,),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), written='module, output')
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
