"""After a change in place a tensor is a new one: a hook put on before is given the gradient of the old one."""

import torch

seen = []
x = torch.ones((), requires_grad=True)
y = 2 * x
y.register_hook(lambda grad: seen.append(("before", grad.item())))
y.mul_(5)
y.register_hook(lambda grad: seen.append(("after", grad.item())))
(3 * y).backward()
print(seen)
assert seen == [("after", 3), ("before", 15)]
