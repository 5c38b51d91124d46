"""torch has no call that removes all hooks: keep the handles. Where they are lost, this removes everybody's hooks."""

import torch

calls = []
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
handles = [layer.register_forward_hook(lambda module, args, output: calls.append(1)) for layer in model]
for handle in handles:
    handle.remove()
model(torch.ones(1, 2))
assert calls == []

model[0].register_forward_hook(lambda module, args, output: calls.append(2))  # its handle is lost
for module in model.modules():
    for name in ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"):
        getattr(module, name, {}).clear()
model(torch.ones(1, 2))
print(calls)
assert calls == []
