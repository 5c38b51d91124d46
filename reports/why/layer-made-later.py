"""A layer that is made, or put in the place of another, after the hooks were registered has none."""

import torch

calls = []


def watch(module):
    module.register_forward_hook(lambda module, args, output: calls.append(type(module).__name__))


model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
model.apply(watch)
model[1] = torch.nn.Tanh()
model(torch.ones(1, 2))
print(calls)
assert calls == ["Linear", "Sequential"]
watch(model[1])
calls.clear()
model(torch.ones(1, 2))
assert calls == ["Linear", "Tanh", "Sequential"]
