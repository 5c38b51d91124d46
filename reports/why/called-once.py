"""torch has no hook that runs only once: the hook removes itself by its handle."""

import torch

calls = []
layer = torch.nn.Linear(2, 2)


def once(module, args, output):
    calls.append(1)
    handle.remove()


handle = layer.register_forward_hook(once)
layer(torch.ones(1, 2))
layer(torch.ones(1, 2))
print(calls)
assert calls == [1]
