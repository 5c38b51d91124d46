"""A gradient that two tensors share: what the hook of one changes in place is in the .grad of the other, too."""

import torch


def triples(grad):
    grad.mul_(3)


one, two = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
one.register_hook(triples)
(one + two).backward(torch.ones(2))
print(one.grad, two.grad)
assert two.grad.tolist() == [3, 3]
