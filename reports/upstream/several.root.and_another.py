"""On the tensor that backward() begins at and a leaf a multi-grad hook is called twice, in part.

Documentation: after every non-ignored tensor's gradient has been computed, the hook is called with those
    gradients.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: calls it with the gradient of y alone, and then with that of x alone.
Doubt: the same cause as several.root.alone.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x = torch.ones((), requires_grad=True)
y = 3 * x
observed = []
register_multi_grad_hook([y, x], lambda grads: observed.append([None if one is None else one.item() for one in grads]))
y.backward()
documented = [[1.0, 3.0]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.root.and_another)")
