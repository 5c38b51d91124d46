"""gradient.kinds.dtype: On both sides of a cast the gradient has the dtype of the tensor that is hooked.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, casts):
    seen = []
    x = torch.ones((), dtype=getattr(torch, casts[0]), requires_grad=True)
    row = [x]
    for name in casts[1:]:
        # A cast to the dtype that a tensor has gives that tensor itself, which then has two hooks.
        row.append(row[-1].to(getattr(torch, name)))
    for tensor in row:
        tensor.register_hook(lambda grad: seen.append(str(grad.dtype)))
    row[-1].backward()
    expected = casts[::-1] if subject.value == "tensor" else casts[-1:] * len(row)
    assert seen == [f"torch.{name}" for name in expected]


READINGS = {
    "the tensor's (every torch): At every tensor in a row of casts.": 'tensor',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), casts=['float32', 'float64'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
