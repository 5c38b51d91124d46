"""In saved_tensors_hooks the in-place check is off: a wrong gradient and no error, even where the hooks do nothing.

Documentation: whoever uses in-place functions and sees no error can be sure that the gradients are correct; the pages
    on these hooks make no exception.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
torch: does not compare the version of what the hooks have packed, and computes with the changed value.
See also: https://github.com/pytorch/pytorch/pull/62717
"""

import torch

x = torch.ones(1, requires_grad=True)
y = x * 1
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), lambda packed: packed):
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
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (saved.check.off)")
