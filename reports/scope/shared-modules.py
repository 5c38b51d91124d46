"""A module that is called twice in a forward has its hooks run twice."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output[0].item()))
layer(layer(torch.ones((), requires_grad=True))).backward()
print(seen)
assert seen == [1, 2]
