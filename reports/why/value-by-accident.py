"""A lambda returns a value by accident: that is the output then, and all earlier layers get no gradient."""

import torch


def gradient(hook):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    model[1].register_forward_hook(hook)
    model(torch.ones(1, 2)).sum().backward()
    return model[0].weight.grad


kept = {}


def keep(module, args, output):
    kept["output"] = output.detach()


assert gradient(lambda module, args, output: kept.setdefault("first", output.detach())) is None
assert gradient(keep) is not None
print("the same hook with def and without return keeps the gradients")
