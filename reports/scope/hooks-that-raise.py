"""After a forward hook that raises, the later ones do not run."""

import contextlib

import torch

seen = []


def raises(module, args, output):
    raise ValueError


layer = torch.nn.Identity()
layer.register_forward_hook(raises)
layer.register_forward_hook(lambda module, args, output: seen.append("called"))
with contextlib.suppress(ValueError):
    layer(torch.ones(2))
print(seen)
assert seen == []
