"""A pass that a hook runs through one of two tensors takes the outer pass the call of a multi-grad hook.

Documentation: after every non-ignored tensor's gradient has been computed, the hook is called with those
    gradients.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: keeps one number of gradients to wait for, for all passes; the inner pass overwrites it, the outer call is lost.
See also: https://github.com/pytorch/pytorch/pull/86260
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x, y = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
inner = 7 * x
middle = 3 * x
observed = []
register_multi_grad_hook([x, y], lambda grads: observed.append([None if one is None else one.item() for one in grads]))
middle.register_hook(lambda grad: inner.backward())
(middle * y * 1).backward()
documented = [[7.0, None], [9.0, 6.0]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.inside.fewer)")
