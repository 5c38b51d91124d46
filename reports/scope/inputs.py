"""backward(inputs=) runs no hook of a leaf that is not among them."""

import torch

seen = []
x, weight = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
x.register_hook(lambda grad: seen.append("x"))
(x * weight).backward(inputs=[weight])
print(seen)
assert seen == []
