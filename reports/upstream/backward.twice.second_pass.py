"""A second pass through a gradient computes the input's gradient and does not call the full hook.

Documentation: the hook is called every time gradients of the module are computed; ordinarily when those of its inputs
    are.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: calls the hook in the first pass only; before 1.13 the second called it as well.
See also: https://github.com/pytorch/pytorch/issues/88312, https://github.com/pytorch/pytorch/pull/88357,
    https://github.com/pytorch/pytorch/pull/151785
As documented: called again
Doubt: chosen and documented in pull 88357: a call if and only if gradients of the outputs are computed. Pull 151785
    put the rules of today in place of that sentence.
"""

import torch


class Cube(torch.nn.Module):
    def forward(self, x):
        return x**3


calls, module, x = [], Cube(), torch.tensor(2.0, requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
(grad,) = torch.autograd.grad(module(x), x, create_graph=True)
grad.backward()
documented = {"x.grad": 12, "calls": 2}
observed = {"x.grad": int(x.grad), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.twice.second_pass)")
