"""Where an autograd.Function returns None as a gradient, hooks of non-leaf tensors before it are given None."""

import torch

seen = []


class Blocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


x = torch.ones(2, requires_grad=True)
y = 2 * x
y.register_hook(seen.append)
Blocks.apply(y).sum().backward()
print(seen)
assert seen == [None]
