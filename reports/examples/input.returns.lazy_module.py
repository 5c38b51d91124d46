"""input.returns.lazy_module: A pre-hook on a lazy module runs once its weights are made, also at the first call.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn, "LazyLinear"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.LazyLinear")


def example(subject, kind, size, hooks, calls):
    outputs, inputs = size
    kernel = {"LazyLinear": (), "LazyConv2d": (1, 1)}.get(kind, (1,))
    shape = (inputs, outputs, *kernel) if kind == "LazyConvTranspose1d" else (outputs, inputs, *kernel)
    seen, module = [], getattr(torch.nn, kind)(outputs, *kernel[:1])
    assert len(module._forward_pre_hooks) == 1  # its own, which makes the weights
    for number in range(hooks):
        module.register_forward_pre_hook(
            lambda module, args, number=number: seen.append((number, tuple(module.weight.shape)))
        )
    raised = "none"
    try:
        for _ in range(calls):
            module(torch.ones(1, inputs, *kernel))
    except RuntimeError as error:
        raised = type(error).__name__
    times = calls if subject.value == "none" else 0
    assert (seen, raised) == ([(number, shape) for number in range(hooks)] * times, subject.value)
    assert len(module._forward_pre_hooks) == hooks


READINGS = {
    'weights first (torch >=1.10): A pre-hook on a lazy module runs when the weights are there.': 'none',
    'the first call fails (torch <1.10): The first call of a lazy module that has another pre-hook raises RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind='LazyLinear', size=(2, 3), hooks=1, calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
