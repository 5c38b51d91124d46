"""gradient.kinds.strides: The .grad of a permuted leaf has the strides of the leaf; the gradient in its hook need not.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, sizes, order):
    seen = []
    x = torch.ones(sizes).permute([place for place in order if place < len(sizes)]).requires_grad_()
    x.register_hook(seen.append)
    factor = torch.ones(x.shape)
    (factor * x * factor).sum().backward()
    kept = x if subject.value == "leaf" else factor
    assert [grad.stride() for grad in (*seen, x.grad)] == [factor.stride(), kept.stride()]


READINGS = {
    "the leaf's (torch >=1.6): The .grad of a permuted leaf has the leaf's strides, its hook is given those of the calculation.": 'leaf',
    "the gradient's (torch <1.6): The .grad of a permuted leaf has the strides of the calculation, as the gradient in its hook.": 'gradient',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), sizes=[2, 3], order=[1, 0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
