"""A tensor that keeps its gradient has a .grad, which autograd.grad adds to."""

import torch

x = torch.ones((), requires_grad=True)
y = 2 * x
y.retain_grad()
torch.autograd.grad(3 * y, x)
print(y.grad)
assert y.grad == 3
