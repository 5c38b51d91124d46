"""On the tensor that backward() begins at and others a multi-grad hook is called one gradient too early.

Documentation: after every non-ignored tensor's gradient has been computed, the hook is called with those
    gradients.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: waits for one gradient too few, and passes None for the last leaf.
Doubt: the same cause as several.root.alone.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x, w = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
y = x * w
observed = []
register_multi_grad_hook([y, x, w], lambda grads: observed.append([one is not None for one in grads]))
y.backward()
documented = [[True, True, True]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.root.and_more)")
