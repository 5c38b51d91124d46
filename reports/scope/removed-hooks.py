"""A full backward hook that is removed after the forward is still called for it."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
output = layer(torch.ones(2, requires_grad=True))
handle.remove()
output.sum().backward()
print(seen)
assert seen == ["called"]
