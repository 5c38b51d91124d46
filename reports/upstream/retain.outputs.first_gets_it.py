"""std.grad is the gradient of mean, where both keep theirs and mean was changed in place.

Documentation: .grad will contain the gradients computed for the tensor itself.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.grad.html
torch: puts the 5 of mean into std.grad, and the gradient of mean as it was before the change into mean.grad: the first
    output of the operation loses what it keeps, not the one that was changed. With mean.retain_grad() alone
    mean.mul_(2) fails with INTERNAL ASSERT FAILED.
See also: https://github.com/pytorch/pytorch/pull/92604
As documented: its own
"""

import torch

x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
std, mean = torch.std_mean(x)
std.retain_grad()
mean.retain_grad()
mean.mul_(2)
(3 * std + 5 * mean).backward()
observed = {"std": std.grad.item(), "mean": mean.grad.item()}
documented = {"std": 3.0, "mean": 5.0}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (retain.outputs.first_gets_it)")
