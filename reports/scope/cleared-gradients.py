"""Where .grad is set to None between two passes, the second pass begins anew."""

import torch

x = torch.ones((), requires_grad=True)
(2 * x).backward()
x.grad = None
(3 * x).backward()
print(x.grad)
assert x.grad == 3
