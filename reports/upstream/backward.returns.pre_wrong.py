"""A bare Tensor of two elements counts as two gradients when a full backward pre-hook returns it.

Documentation: the hook returns a tuple of tensors, a Tensor or None (since 2.10; before: a tuple or None, in 2.0 a
    Tensor or None).
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook
torch: counts the elements of the tensor, finds too many gradients, and backward() raises RuntimeError.
Doubt: the same fault as backward.objects.pre_bare_tensor, with another shape: report them as one.
"""

import torch


class Double(torch.nn.Module):
    def forward(self, x):
        return 2 * x


module, x = Double(), torch.ones(2, requires_grad=True)
module.register_full_backward_pre_hook(lambda module, grad_output: torch.full((2,), 3.0))
try:
    module(x).sum().backward()
    observed = [int(value) for value in x.grad.tolist()]
except RuntimeError:
    observed = "RuntimeError"
documented = [6, 6]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.returns.pre_wrong)")
