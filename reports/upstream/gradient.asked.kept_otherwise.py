"""autograd.grad(out, (m, x)) returns another gradient for m than retain_grad() keeps in m.grad.

Documentation: the hook can return a new gradient, which is used in place of the gradient.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: puts the hooked gradient into m.grad and returns the unhooked one.
Doubt: the same cause as gradient.asked.together_with_a_leaf: report them as one.
"""

import torch

x = torch.ones((), requires_grad=True)
m = 2 * x
m.retain_grad()
m.register_hook(lambda grad: 10 * grad)
returned, _ = torch.autograd.grad(5 * m, (m, x))
documented = {"m.grad": 50, "returned for m": 50}
observed = {"m.grad": int(m.grad), "returned for m": int(returned)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (gradient.asked.kept_otherwise)")
