"""A second pass adds to .grad, and its hooks are given the gradient of that pass alone."""

import torch

seen = []
x = torch.ones((), requires_grad=True)
x.register_hook(lambda grad: seen.append(grad.item()))
y = 2 * x
y.backward(retain_graph=True)
y.backward()
print(seen, x.grad)
assert seen == [2, 2]
assert x.grad == 4
