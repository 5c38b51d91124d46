"""A pack hook that changes its argument by apply_() raises nothing: the tensor of the caller is changed.

Documentation: an error is thrown if the input of a pack hook is changed in place.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#hooks-for-saved-tensors
torch: apply_() writes the values and leaves the version of the tensor as it was, which is all that is compared.
See also: https://github.com/pytorch/pytorch/pull/62717
"""

import torch


def pack(kept):
    return kept.apply_(lambda value: value * 10)


x = torch.ones(1, requires_grad=True)
w = torch.full((1,), 3.0)
try:
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        y = w * x
    y.backward()
    observed = x.grad.item()
except RuntimeError as error:
    observed = type(error).__name__
documented = "RuntimeError"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (saved.check.apply)")
