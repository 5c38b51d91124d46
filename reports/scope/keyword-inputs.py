"""An input by keyword is not in the grad_input of a full backward hook."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
layer(x=torch.ones(2, requires_grad=True)).sum().backward()
print(seen)
assert seen == [()]
