"""An input inside a list is None in the grad_input of a full backward hook."""

import torch

seen = []


class First(torch.nn.Module):
    def forward(self, xs):
        return 2 * xs[0]


layer = First()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
layer([torch.ones(2, requires_grad=True)]).sum().backward()
print(seen)
assert seen == [(None,)]
