"""In save_on_cpu the in-place check is off: a tensor on the CPU may be changed, and the gradient is wrong.

Documentation: whoever uses in-place functions and sees no error can be sure that the gradients are correct; the page on
    save_on_cpu makes no exception.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
torch: packs such a tensor without a copy, does not compare its version, and computes with the changed value.
"""

import torch

x = torch.ones(1, requires_grad=True)
y = x * 1
with torch.autograd.graph.save_on_cpu():
    z = y**2
y.mul_(10)
try:
    z.backward()
    observed = x.grad.item()
except RuntimeError as error:
    observed = type(error).__name__
documented = "RuntimeError"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (saved.check.save_on_cpu)")
