"""A multi-grad hook on the tensor that backward() begins at is not called.

Documentation: after every non-ignored tensor's gradient has been computed, the hook is called with those
    gradients.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: does not call it: it counts the tensors by the nodes of the pass, and a lone root is not among these.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x = torch.ones((), requires_grad=True)
y = 3 * x
observed = []
register_multi_grad_hook([y], lambda grads: observed.append([grad.item() for grad in grads]))
y.backward()
documented = [[1.0]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.root.alone)")
