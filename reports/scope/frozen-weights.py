"""A leaf that is frozen after the forward has its tensor hooks called, and its .grad stays."""

import torch

seen = []
weight = torch.ones((), requires_grad=True)
weight.register_hook(lambda grad: seen.append(grad.item()))
loss = 2 * weight
weight.requires_grad_(False)
loss.backward()
print(seen, weight.grad)
assert seen == [2]
assert weight.grad is None
