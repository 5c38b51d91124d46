"""A forward hook that changes its output in place and returns None has changed what the caller gets."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


layer = Scale()


def triples(module, args, output):
    output.mul_(3)


layer.register_forward_hook(triples)
output = layer(torch.ones(()))
print(output)
assert output == 6
