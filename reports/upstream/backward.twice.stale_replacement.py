"""A full hook that scales corrupts a gradient that never passed the module's output.

Documentation: what the hook returns is used in place of the gradient of the module's input.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: runs the hook, with grad_output of an earlier pass, and makes x.grad 3500 where 35 is right.
Doubt: the same cause as backward.twice.stale, which shows the wrong grad_output; this one shows the damage.
"""

import torch


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.weight * x


module, x = Line(), torch.ones((), requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: (100 * grad_input[0],))
(grad,) = torch.autograd.grad(5 * module(x), module.weight, create_graph=True)
(7 * grad).backward()
documented = 35
observed = int(x.grad)

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.twice.stale_replacement)")
