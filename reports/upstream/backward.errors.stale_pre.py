"""A full hook gets grad_output of a pass that failed, in a pass that does not reach the output.

Documentation: grad_output holds the gradients with respect to the outputs.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: keeps the 5 of a pass in which a full backward pre-hook raised, and gives it to the hook in the next pass.
Doubt: without the pass that failed the hook is not called at all; by the rules of today that call is due.
"""

import torch


class Keeps(torch.nn.Module):
    def forward(self, x):
        self.inner = 2 * x
        return 3 * self.inner


def fail(module, grad_output):
    raise ValueError


seen, module, x = [], Keeps(), torch.ones((), requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: seen.extend(map(int, grad_output)))
module.register_full_backward_pre_hook(fail)
try:
    (5 * module(x)).backward(retain_graph=True)
except ValueError:
    module.inner.backward()
documented = {"x.grad": 2, "gradients of the first pass given in the second": []}
observed = {"x.grad": int(x.grad), "gradients of the first pass given in the second": seen}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.errors.stale_pre)")
