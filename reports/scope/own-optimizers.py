"""A step() that calls super().step() calls the step hooks twice, if an optimizer of the base class was made before."""

import torch


class Mine(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


seen = []
weight = torch.ones(1, requires_grad=True)
torch.optim.SGD([weight], lr=0.1)
mine = Mine([weight], lr=0.1)
mine.register_step_post_hook(lambda optimizer, args, kwargs: seen.append("hook"))
mine.step()
print(seen)
assert seen == ["hook", "hook"]
