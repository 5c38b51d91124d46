"""torch.jit.trace of what it made before returns that itself, and a hook that it is given later runs."""

import torch

seen = []
x = torch.ones(1, 2)
first = torch.jit.trace(torch.nn.Linear(2, 2), x)
second = torch.jit.trace(first, x)
first.register_forward_hook(lambda module, args, output: seen.append("hook"))
second(x)
print(seen)
assert seen == ["hook"]
