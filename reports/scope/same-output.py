"""A module that returns its input: under no_grad the output still has the graph of the input."""

import torch

x = torch.ones(2, requires_grad=True)
layer = torch.nn.Identity()
layer.register_forward_hook(lambda module, args, output: None)
with torch.no_grad():
    output = layer(x)
output.sum().backward()
print(x.grad)
assert x.grad.tolist() == [1, 1]
