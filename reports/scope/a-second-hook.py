"""A second hook is given what the first one returned."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


seen = []
layer = Scale()
layer.register_forward_hook(lambda module, args, output: 10 * output)
layer.register_forward_hook(lambda module, args, output: seen.append(output.item()))
layer(torch.ones(()))
print(seen)
assert seen == [20]
