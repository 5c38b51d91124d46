"""A gradient that backward() is given in another dtype is cast before a hook sees it."""

import torch

seen = []
x = torch.ones(2, requires_grad=True)
y = 2 * x
y.register_hook(lambda grad: seen.append(grad.dtype))
y.backward(torch.ones(2, dtype=torch.float64))
print(seen)
assert seen == [torch.float32]
