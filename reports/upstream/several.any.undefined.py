"""With mode="any" a multi-grad hook is called with None, and then not with the first gradient.

Documentation: with mode any the hook is called after the first gradient has been computed, with that gradient.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: takes an undefined gradient for the first one, and calls the hook with None.
Doubt: the same as gradient.undefined.example_fails: tensor hooks are given None.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x = torch.ones(2, requires_grad=True)
unused, used = x.unbind(0)
observed = []
register_multi_grad_hook(
    [unused, used], lambda grad: observed.append(None if grad is None else grad.item()), mode="any"
)
(2 * used).backward()
documented = [2.0]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.any.undefined)")
