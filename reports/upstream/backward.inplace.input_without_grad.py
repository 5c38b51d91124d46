"""A hooked module may change an input in place that needs no gradient, though the docs announce an error.

Documentation: changing inputs or outputs in place is not allowed with a backward hook and raises an error.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
    (the warning)
torch: raises nothing where no input needs a gradient; the module gets the caller's tensor and changes it.
"""

import torch


class AddOne(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.weight * x.add_(1)


module = AddOne()
module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
try:
    module(torch.zeros(2)).sum().backward()
    observed = "no error"
except RuntimeError:
    observed = "an error"
documented = "an error"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.inplace.input_without_grad)")
