"""checkpoint(use_reentrant=True) of a module that returns its parameter sets requires_grad of the parameter to False.

Documentation: where no input needs a gradient, the checkpointed part of the model will not have gradients.
    https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.checkpoint
torch: sets requires_grad of the parameter itself to False, so that it has no gradient without checkpoint, either.
See also: https://github.com/pytorch/pytorch/issues/7617
Doubt: the page says nothing of a parameter that is returned.
"""

import torch
from torch.utils.checkpoint import checkpoint

module = torch.nn.Linear(1, 1, bias=False)
x = torch.ones(1, 1)
checkpoint(lambda given: (module(given), module.weight), x, use_reentrant=True)
observed = {"parameter": module.weight.requires_grad, "output without checkpoint": module(x).requires_grad}
documented = {"parameter": True, "output without checkpoint": True}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.checkpoint.reentrant_detaches)")
