"""A hook that keeps the output on its module makes a deep copy of the module fail, if the output has a graph."""

import copy

import torch

layer = torch.nn.Linear(2, 2)


def keep(module, args, output):
    module.last = output


layer.register_forward_hook(keep)
layer(torch.ones(1, 2))
try:
    copy.deepcopy(layer)
except RuntimeError as error:
    print(error)
else:
    raise SystemExit("copied")
layer.last = layer.last.detach()
copy.deepcopy(layer)
