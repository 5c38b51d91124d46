"""A second module of a compiled class uses the code of the first one, without the hooks on its own inner modules."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


seen = []
torch.compile(Net(), backend="eager")(torch.ones(1, 2))
second = Net()
second.layer.register_forward_hook(lambda module, args, output: seen.append("hook"))
torch.compile(second, backend="eager")(torch.ones(1, 2))
print(seen)
assert seen == []
