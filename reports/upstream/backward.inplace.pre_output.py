"""A full backward pre-hook forbids changing the output in place; its docs forbid it for inputs only.

Documentation: changing inputs in place is not allowed with a pre-hook and raises an error; outputs are not named.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook
    (the warning)
torch: raises RuntimeError at the change of an output, as with a full backward hook, whose docs do name outputs.
Doubt: the docs are silent here rather than wrong: the warning leaves outputs out, it does not allow their change.
"""

import torch

module = torch.nn.Linear(2, 2)
module.register_full_backward_pre_hook(lambda module, grad_output: None)
out = module(torch.ones(1, 2, requires_grad=True))
try:
    out.mul_(2)
    observed = "no error"
except RuntimeError:
    observed = "an error"
documented = "no error"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.inplace.pre_output)")
