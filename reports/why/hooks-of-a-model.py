"""torch has no call that lists hooks; this finds those of all modules and parameters in their private dicts."""

import torch

DICTS = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_post_accumulate_grad_hooks",
)


def hooks_of(model):
    for name, owner in [*model.named_modules(), *model.named_parameters()]:
        for kind in DICTS:
            for hook in (getattr(owner, kind, None) or {}).values():
                yield name, kind, hook


def scale(grad):
    return grad * 2


model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
model[1].register_forward_hook(print)
model[0].weight.register_hook(scale)
found = list(hooks_of(model))
print(found)
assert found == [("1", "_forward_hooks", print), ("0.weight", "_backward_hooks", scale)]
