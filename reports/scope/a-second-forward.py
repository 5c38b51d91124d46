"""Hooks run in each forward: two forwards of one loss run a full backward hook twice."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
x = torch.ones((), requires_grad=True)
(layer(x) + layer(x)).backward()
print(seen)
assert seen == ["called"] * 2
