"""A tensor that a hook keeps changes with a later layer that works in place; clone() in the hook keeps it."""

import torch

kept = {}
model = torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU(inplace=True))


def keep(module, args, output):
    kept["output"], kept["clone"] = output, output.clone()


model[0].register_forward_hook(keep)
model(-torch.ones(2))
print(kept)
assert kept["output"].tolist() == [0, 0]
assert kept["clone"].tolist() == [-1, -1]
