"""After a KeyboardInterrupt always_call hooks do not run."""

import contextlib

import torch

seen = []


class Stops(torch.nn.Module):
    def forward(self, x):
        raise KeyboardInterrupt


layer = Stops()
layer.register_forward_hook(lambda module, args, output: seen.append("called"), always_call=True)
with contextlib.suppress(KeyboardInterrupt):
    layer(torch.ones(2))
print(seen)
assert seen == []
