"""gradient.kinds.complex: The hook of a complex tensor is given a complex gradient, conjugate as .grad has it.

Says which reading this torch has.
Checked by suites/gradient/test_complex.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch, "view_as_real"): raise SystemExit("torch " + torch.__version__ + " has no torch.view_as_real")


def example(subject, z, w, first, by):
    seen = []
    tensor = torch.tensor([z], requires_grad=True)
    product = torch.tensor([w]) * tensor
    tensor.register_hook(lambda grad: seen.append(grad.tolist()[0]))
    tensor.register_hook(lambda grad: grad * by)
    tensor.register_hook(lambda grad: seen.append(grad.tolist()[0]))
    product.backward(torch.tensor([first]))
    grad = first * (w.conjugate() if subject.value == "conjugate" else w)
    assert [*seen, tensor.grad.tolist()[0]] == [grad, grad * by, grad * by]


READINGS = {
    'conjugate (torch >=1.7): The gradient of w * z at z, given g, is g times the conjugate of w, in the hook and in .grad.': 'conjugate',
    'not conjugate (torch <1.7): The gradient of w * z at z, given g, is g * w: it is not conjugate.': 'as it is',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), z=(1+2j), w=(3-1j), first=(1+0j), by=(1+0j))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
