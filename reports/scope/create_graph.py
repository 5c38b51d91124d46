"""With create_graph a full backward hook is called with gradients that need gradients themselves."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input[0].requires_grad))
x = torch.ones(2, requires_grad=True)
torch.autograd.grad((layer(x) ** 2).sum(), x, create_graph=True)
print(seen)
assert seen == [True]
