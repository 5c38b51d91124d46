"""A full backward pre-hook may not return a bare Tensor, though its docs list it.

Documentation: the hook returns a tuple of tensors, a Tensor or None (since 2.10; before: a tuple or None, in 2.0 a
    Tensor or None).
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook
torch: takes the tensor for a sequence of gradients, of its one row, and backward() raises RuntimeError.
"""

import torch


class Double(torch.nn.Module):
    def forward(self, x):
        return 2 * x


module, x = Double(), torch.ones(1, 2, requires_grad=True)
module.register_full_backward_pre_hook(lambda module, grad_output: torch.full((1, 2), 3.0))
try:
    module(x).sum().backward()
    observed = [[int(value) for value in row] for row in x.grad.tolist()]
except RuntimeError:
    observed = "RuntimeError"
documented = [[6, 6]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.objects.pre_bare_tensor)")
