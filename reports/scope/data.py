"""What is written to .data counts as no change: backward() goes on with the new number, without an error."""

import torch

x = torch.tensor(2.0, requires_grad=True)
weight = torch.tensor(3.0, requires_grad=True)
product = x * weight
weight.data.fill_(5.0)
product.backward()
print(x.grad)
assert x.grad == 5
