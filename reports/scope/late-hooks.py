"""A full backward hook that is registered after the forward is not called for it."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
output = layer(torch.ones(2, requires_grad=True))
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
output.sum().backward()
print(seen)
assert seen == []
