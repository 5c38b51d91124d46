"""With preserve_rng_state=False what a hook draws is drawn anew where a checkpoint runs forward again."""

import torch
from torch.utils.checkpoint import checkpoint

drawn = []
layer = torch.nn.Linear(2, 2)
layer.register_forward_pre_hook(lambda module, args: drawn.append(torch.rand(1).item()))
x = torch.ones(1, 2, requires_grad=True)
for kept in (True, False):
    checkpoint(layer, x, use_reentrant=True, preserve_rng_state=kept).sum().backward()
print(drawn)
assert drawn[0] == drawn[1]
assert drawn[2] != drawn[3]
