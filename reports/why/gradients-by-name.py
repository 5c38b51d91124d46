"""A hook on each parameter is given its gradient in every backward(), before that is in .grad."""

import functools

import torch

seen = {}


def note(name, grad):
    seen[name] = grad.abs().max().item()  # returns nothing, so the gradient stays as it is


model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
for name, parameter in model.named_parameters():
    parameter.register_hook(functools.partial(note, name))
model(torch.ones(1, 2)).sum().backward()
print(seen)
assert sorted(seen) == sorted(name for name, _ in model.named_parameters())
