"""Under activation checkpoint forward runs again in the backward pass, and its forward hooks with it."""

import torch
from torch.utils.checkpoint import checkpoint

seen = []
layer = torch.nn.Linear(2, 2)
layer.register_forward_hook(lambda module, args, output: seen.append("hook"))
checkpoint(layer, torch.ones(1, 2, requires_grad=True), use_reentrant=True).sum().backward()
print(seen)
assert seen == ["hook", "hook"]
