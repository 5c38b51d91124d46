"""Who empties a module's dict of hooks, as the teardown of a library may do, removes the hooks of all others, too."""

import torch

calls = []
layer = torch.nn.Linear(2, 2)
mine = layer.register_forward_hook(lambda module, args, output: calls.append("mine"))
layer._forward_hooks.clear()
layer(torch.ones(1, 2))
print(calls)
assert calls == []
mine.remove()  # does nothing, and no harm
