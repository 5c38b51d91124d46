"""A replacement that is not made from the output cuts the graph: nothing upstream gets a gradient."""

import torch

x = torch.ones(2, requires_grad=True)
layer = torch.nn.Linear(2, 2)
layer.register_forward_hook(lambda module, args, output: torch.ones(2, requires_grad=True))
layer(x).sum().backward()
print(x.grad, layer.weight.grad)
assert x.grad is None
assert layer.weight.grad is None
