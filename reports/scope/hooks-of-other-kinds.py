"""A full backward hook gives the module a new tensor as its input: what a forward hook sees is not the caller's."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
x = torch.ones(2, requires_grad=True)
layer = Scale()
layer.register_forward_hook(lambda module, args, output: seen.append(args[0] is x))
layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
layer(x)
print(seen)
assert seen == [False]
