"""input.returns.lazy_module: A pre-hook on a lazy module runs after the one that makes the weights, at the first call too.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn, "LazyLinear"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.LazyLinear")


def example(subject, size, hooks, calls):
    outputs, inputs = size
    seen, module = [], torch.nn.LazyLinear(outputs)
    for number in range(hooks):
        module.register_forward_pre_hook(
            lambda module, args, number=number: seen.append((number, tuple(module.weight.shape)))
        )
    raised = "none"
    try:
        for _ in range(calls):
            module(torch.ones(1, inputs))
    except RuntimeError as error:
        raised = type(error).__name__
    times = calls if subject.value == "none" else 0
    assert (seen, raised) == ([(number, size) for number in range(hooks)] * times, subject.value)


READINGS = {
    'after it (torch >=1.10): The weights are there.': 'none',
    'the call fails (torch <1.10): The lazy module removes its own hook in the loop over the hooks: RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), size=(2, 3), hooks=1, calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
