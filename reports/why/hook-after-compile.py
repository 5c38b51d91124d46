"""A hook that is registered after a compiled module ran for the first time is not called, and nothing says so."""

import torch

seen = []
layer = torch.nn.Linear(2, 2)
model = torch.compile(torch.nn.Sequential(layer), backend="eager")
model(torch.ones(1, 2))
layer.register_forward_hook(lambda module, args, output: seen.append("hook"))
model(torch.ones(1, 2))
print(seen or "not called")
assert seen == []
