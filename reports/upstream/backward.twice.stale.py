"""A full hook gets grad_output of an earlier pass, in a pass that does not reach the output.

Documentation: grad_output holds the gradients with respect to the outputs.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: keeps the 5 of a pass that stopped at the weight, and gives it to the hook in the next pass as grad_output.
Doubt: a hook that scales its grad_input makes x.grad wrong then; but by the rules of today the call itself is due.
"""

import torch


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        return self.weight * x


seen, module, x = [], Line(), torch.ones((), requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: seen.extend(map(int, grad_output)))
(grad,) = torch.autograd.grad(5 * module(x), module.weight, create_graph=True)
(7 * grad).backward()
documented = {"x.grad": 35, "gradients of the first pass given in the second": []}
observed = {"x.grad": int(x.grad), "gradients of the first pass given in the second": seen}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.twice.stale)")
