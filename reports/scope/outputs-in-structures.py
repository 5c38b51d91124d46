"""The full backward hook of a module that returns a dict is not called."""

import torch

seen = []


class Named(torch.nn.Module):
    def forward(self, x):
        return {"y": 2 * x}


layer = Named()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
layer(torch.ones(2, requires_grad=True))["y"].sum().backward()
print(seen)
assert seen == []
