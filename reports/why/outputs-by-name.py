"""A hook is not told the name of its layer: bind it. This keeps the outputs of many layers under their names."""

import torch


def keep_in(kept, name):
    def hook(module, args, output):
        kept[name] = output.detach()  # returns nothing, so the output stays as it is

    return hook


kept = {}
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
handles = [layer.register_forward_hook(keep_in(kept, name)) for name, layer in model.named_modules() if name]
output = model(torch.ones(1, 2))
for handle in handles:
    handle.remove()
print({name: tuple(value.shape) for name, value in kept.items()})
assert list(kept) == ["0", "1", "2"]
assert torch.equal(kept["2"], output)
