"""After detach_() retains_grad stays True, on what is now a leaf without gradient.

Documentation: retains_grad is True if the tensor is no leaf and its .grad is going to be populated, and False
    otherwise.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retains_grad.html
torch: leaves it True.
"""

import torch

y = 3 * torch.ones((), requires_grad=True)
y.retain_grad()
y.detach_()
documented = {"is_leaf": True, "requires_grad": False, "retains_grad": False}
observed = {"is_leaf": y.is_leaf, "requires_grad": y.requires_grad, "retains_grad": y.retains_grad}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (retain.versions.detached)")
