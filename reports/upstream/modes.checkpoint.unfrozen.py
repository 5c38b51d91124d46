"""Unfreezing w after checkpoint(use_reentrant=False) of w * x makes backward() compute x.grad with x in place of w.

Documentation: recomputation stops as soon as it has computed all needed tensors.
    https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.set_checkpoint_early_stop
torch: stops as soon as it has as many tensors as forward saved. Forward saved w; with w unfrozen w * x saves x first,
    so x stands where w is needed. Of one shape and dtype nothing is noticed; without early stop CheckpointError comes.
Doubt: the page of checkpoint warns of silently incorrect gradients where the function differs in the backward pass.
"""

import torch
from torch.utils.checkpoint import checkpoint

w = torch.tensor(3.0)
x = torch.tensor(5.0, requires_grad=True)
out = checkpoint(lambda given: w * given, x, use_reentrant=False)
w.requires_grad_(True)
out.backward()
documented = {"x.grad": 3.0}
observed = {"x.grad": x.grad.item()}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.checkpoint.unfrozen)")
