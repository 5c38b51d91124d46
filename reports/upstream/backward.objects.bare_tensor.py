"""A full hook may not return a bare Tensor, though the signature on its page allows it.

Documentation: the annotated type of the hook lets it return a tuple of tensors, a Tensor or None; the text says a
    tuple or None.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
    (the signature)
torch: takes the tensor for a sequence of gradients, of its rows, and backward() raises RuntimeError.
Doubt: the page disagrees with itself: its annotation allows a Tensor, its text a tuple only, and torch follows the
    text.
"""

import torch


class Double(torch.nn.Module):
    def forward(self, x):
        return 2 * x


module, x = Double(), torch.ones(1, 2, requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: torch.full((1, 2), 3.0))
try:
    module(x).sum().backward()
    observed = [[int(value) for value in row] for row in x.grad.tolist()]
except RuntimeError:
    observed = "RuntimeError"
documented = [[3, 3]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.objects.bare_tensor)")
