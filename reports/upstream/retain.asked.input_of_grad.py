"""autograd.grad(out, m) adds the gradient of m to m.grad, where retain_grad() was called on m.

Documentation: the gradient is returned, and not accumulated into .grad.
    https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html
torch: returns the gradient, and also adds it to m.grad; before 2.0 it only returned it.
See also: https://github.com/pytorch/pytorch/pull/85849
As documented: returned only
"""

import torch

x = torch.ones((), requires_grad=True)
m = 2 * x
m.retain_grad()
(returned,) = torch.autograd.grad(5 * m, m)
documented = {"returned": 5, "m.grad": None}
observed = {"returned": int(returned), "m.grad": None if m.grad is None else int(m.grad)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (retain.asked.input_of_grad)")
