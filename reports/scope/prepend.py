"""With prepend=True a hook runs before those that were registered earlier."""

import torch

seen = []
layer = torch.nn.Identity()
layer.register_forward_hook(lambda module, args, output: seen.append("first"))
layer.register_forward_hook(lambda module, args, output: seen.append("second"), prepend=True)
layer(torch.ones(2))
print(seen)
assert seen == ["second", "first"]
