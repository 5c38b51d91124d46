"""A deep copy has its own hooks: removing through the handle leaves those of the copy."""

import copy

import torch

seen = []
layer = torch.nn.Identity()
handle = layer.register_forward_hook(lambda module, args, output: seen.append("called"))
copied = copy.deepcopy(layer)
handle.remove()
copied(torch.ones(2))
print(seen)
assert seen == ["called"]
