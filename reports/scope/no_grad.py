"""Under no_grad a full backward hook is not set up."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("called"))
x = torch.ones((), requires_grad=True)
with torch.no_grad():
    y = layer(x)
(x * y).backward()
print(seen)
assert seen == []
