"""gradient.kinds.argument: A tensor hook is called with one positional argument, the gradient: a tensor.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, on, passes):
    seen = []
    x = torch.ones((), dtype=torch.float64, requires_grad=True)
    y = 2 * x
    tensors = (x, y, 3 * y)

    def hook(*args, **kwargs):
        seen.append((len(args), kwargs, [isinstance(grad, torch.Tensor) for grad in args]))

    for place in on:
        tensors[place].register_hook(hook)
    for _ in range(passes):
        tensors[-1].backward(retain_graph=True)
    assert seen == [(subject.value, {}, [True] * subject.value)] * len(on) * passes


READINGS = {
    'one tensor (every torch): A tensor hook is called with the gradient alone: no more arguments and no keywords.': 1,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on=[0], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
