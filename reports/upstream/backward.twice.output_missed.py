"""A full hook is not called when the gradient of the input did not pass the module's output.

Documentation: the hook is called every time gradients of the module are computed; ordinarily when those of its inputs
    are.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: computes the gradient of the input and does not call the hook; before 1.13 backward() raised.
See also: https://github.com/pytorch/pytorch/issues/57157, https://github.com/pytorch/pytorch/pull/88357,
    https://github.com/pytorch/pytorch/pull/151785
Doubt: chosen and documented in pull 88357: a call if and only if gradients of the outputs are computed. Pull 151785
    put the rules of today in place of that sentence.
"""

import torch


class Keeps(torch.nn.Module):
    def forward(self, x):
        self.inner = 2 * x
        return self.inner


calls, module, x = [], Keeps(), torch.ones((), requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
module(x)
module.inner.backward()
documented = {"x.grad": 2, "calls": 1}
observed = {"x.grad": int(x.grad), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.twice.output_missed)")
