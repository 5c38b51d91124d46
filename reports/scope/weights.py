"""With pruning a weight is computed before the call: its own parameter comes after the full backward hook."""

import torch
from torch.nn.utils import prune

seen = []
layer = torch.nn.Linear(2, 2)
prune.identity(layer, "weight")
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("full hook"))
layer.weight_orig.register_hook(lambda grad: seen.append("parameter"))
layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
print(seen)
assert seen == ["full hook", "parameter"]
