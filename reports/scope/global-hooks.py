"""A global forward hook runs for every module, the children first."""

import torch

seen = []
handle = torch.nn.modules.module.register_module_forward_hook(
    lambda module, args, output: seen.append(type(module).__name__)
)
torch.nn.Sequential(torch.nn.Identity())(torch.ones(2))
handle.remove()
print(seen)
assert seen == ["Identity", "Sequential"]
