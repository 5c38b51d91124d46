"""gradient.kinds.dtype: On both sides of a cast a hook is given the dtype of its tensor, or the grad_dtype set on the leaf.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, casts, own):
    seen = []
    x = torch.ones((), dtype=getattr(torch, casts[0]), requires_grad=True)
    if own is not None:
        x.grad_dtype = getattr(torch, own)
    row = [x]
    for name in casts[1:]:
        # A cast to the dtype that a tensor has gives that tensor itself, which then has two hooks.
        row.append(row[-1].to(getattr(torch, name)))
    for tensor in row:
        tensor.register_hook(lambda grad: seen.append(str(grad.dtype)))
    row[-1].backward()
    dtypes = [own if own and tensor is x else name for tensor, name in zip(row, casts)]
    expected = dtypes[::-1] if subject.value == "tensor" else casts[-1:] * len(row)
    assert seen == [f"torch.{name}" for name in expected]


READINGS = {
    "the tensor's (every torch): In a row of casts each hook is given its own tensor's dtype.": 'tensor',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), casts=['float32', 'float64'], own='float32')
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
