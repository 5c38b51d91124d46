"""A function that is registered twice is called twice."""

import torch

seen = []


def hook(module, args, output):
    seen.append("called")


layer = torch.nn.Identity()
layer.register_forward_hook(hook)
layer.register_forward_hook(hook)
layer(torch.ones(2))
print(seen)
assert seen == ["called"] * 2
