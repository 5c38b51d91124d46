"""retain_grad() raises RuntimeError on a leaf that does not require grad.

Documentation: it does nothing for a leaf tensor; and a tensor that does not require grad is a leaf, by the page on
    is_leaf.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html
torch: raises RuntimeError for such a leaf, and does nothing for one that requires grad.
See also: https://github.com/pytorch/tutorials/issues/3682
As documented: is silent
"""

import torch

observed = []
for requires_grad in (True, False):
    leaf = torch.ones((), requires_grad=requires_grad)
    try:
        leaf.retain_grad()
        observed.append([leaf.is_leaf, "nothing"])
    except RuntimeError:
        observed.append([leaf.is_leaf, "RuntimeError"])
documented = [[True, "nothing"], [True, "nothing"]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (retain.keep.needs_grad)")
