"""register_multi_grad_hook refuses a tensor that requires no grad, which its docs say it ignores.

Documentation: a tensor that is given but is not part of the graph is ignored, and the hook does not wait for it.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: raises AssertionError with mode="all"; with mode="any" it ignores the tensor. Before 2.5 it raised RuntimeError.
See also: https://github.com/pytorch/pytorch/pull/129558
Doubt: the page may mean tensors that require grad and are in another graph.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

x, constant = torch.ones((), requires_grad=True), torch.ones(())
observed = []
try:
    register_multi_grad_hook([x, constant], lambda grads: observed.append("called"))
except (AssertionError, RuntimeError) as error:
    observed.append(type(error).__name__)
(x * constant * 1).backward()
documented = ["called"]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.registered.without_grad)")
