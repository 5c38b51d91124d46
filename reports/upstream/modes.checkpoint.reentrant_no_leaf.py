"""checkpoint(use_reentrant=True) of a module that returns its parameter makes the parameter the result of an operation.

Documentation: a tensor that needs a gradient is a leaf if the user created it, and has no grad_fn then.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html
torch: gives the parameter itself the grad_fn of the checkpoint, where an input needs a gradient.
See also: https://github.com/pytorch/pytorch/issues/7617
"""

import torch
from torch.utils.checkpoint import checkpoint

module = torch.nn.Linear(1, 1, bias=False)
x = torch.ones(1, 1, requires_grad=True)
checkpoint(lambda given: (module(given), module.weight), x, use_reentrant=True)
observed = {"leaf": module.weight.is_leaf, "grad_fn": type(module.weight.grad_fn).__name__}
documented = {"leaf": True, "grad_fn": "NoneType"}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.checkpoint.reentrant_no_leaf)")
