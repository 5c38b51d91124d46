"""With always_call=True a forward hook runs after a failure too, and its output is None."""

import contextlib

import torch

seen = []


class Fails(torch.nn.Module):
    def forward(self, x):
        raise ValueError


layer = Fails()
layer.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
with contextlib.suppress(ValueError):
    layer(torch.ones(2))
print(seen)
assert seen == [None]
