"""Step hooks of an optimizer run once or twice in a step, up to what else the process has made.

Documentation: a step pre-hook is called before the optimizer step, a step post-hook after it.
    https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.register_step_pre_hook.html
torch: the first object of a class has step() of this class wrapped. A subclass whose step() calls super().step() goes
    through two wrappers as soon as anybody has made an object of its base class, and each wrapper calls the hooks.
See also: https://github.com/pytorch/pytorch/pull/89176
Doubt: step() is indeed called twice, once by the user and once by the subclass.
"""

import torch


class Mine(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


weight = torch.nn.Parameter(torch.ones(()))
weight.grad = torch.ones(())
mine, calls = Mine([weight], lr=0.1), []
mine.register_step_pre_hook(lambda *given: calls.append("pre"))
mine.register_step_post_hook(lambda *given: calls.append("post"))
mine.step()
torch.optim.SGD([weight], lr=0.1)  # an object that has nothing to do with the other
mine.step()
print("calls of the hooks in two steps:")
documented, observed = ["pre", "post"] * 2, calls

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (optimizer.calls.super)")
