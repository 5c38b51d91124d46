"""A forward hook that a forward hook registers runs from the next call on."""

import torch

seen = []
layer = torch.nn.Identity()


def adds(module, args, output):
    layer.register_forward_hook(lambda module, args, output: seen.append("new"))


layer.register_forward_hook(adds)
layer(torch.ones(2))
print(seen)
assert seen == []
layer(torch.ones(2))
print(seen)
assert seen == ["new"]
