"""autograd.grad of a leaf that a multi-grad hook is on raises RuntimeError.

Documentation: tensors that the current .backward() or .grad() call does not need are ignored, so the hook is one for
    both.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: raises RuntimeError, which says that leaves are not supported under autograd.grad.
See also: https://github.com/pytorch/pytorch/issues/131753
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x = torch.ones((), requires_grad=True)
y = 3 * x * 1
observed = []
register_multi_grad_hook([x], lambda grads: observed.append(grads[0].item()))
try:
    torch.autograd.grad(y, x)
except RuntimeError:
    observed.append("RuntimeError")
documented = [3.0]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.asked.leaf)")
