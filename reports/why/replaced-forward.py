"""Hooks of accelerate and diffusers replace module.forward: no hook of torch, and a copy calls the original's."""

import copy

import torch

layer, calls = torch.nn.Linear(1, 1, bias=False), []
torch.nn.init.constant_(layer.weight, 1)
layer.register_forward_hook(lambda module, args, output: calls.append(output.item()))
original = layer.forward
layer.forward = lambda x: original(x) * 10
clone = copy.deepcopy(layer)
torch.nn.init.constant_(clone.weight, 5)
print(clone(torch.ones(1)).item(), calls)
assert clone(torch.ones(1)).item() == 10  # of the original's weight, not 5 * 10
assert calls == [10, 10]  # forward hooks see what the replaced forward returns
