"""autograd.grad(out, (m, x)) returns the gradient of m without what m's hook made of it.

Documentation: the hook can return a new gradient, which is used in place of the gradient.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: returns the hooked gradient for grad(out, m), and the unhooked one for m in grad(out, (m, x)).
"""

import torch

x = torch.ones((), requires_grad=True)
m = 2 * x
m.register_hook(lambda grad: 10 * grad)
out = 5 * m
(alone,) = torch.autograd.grad(out, m, retain_graph=True)
together, leaf = torch.autograd.grad(out, (m, x))
documented = {"m alone": 50, "m together with x": 50, "x": 100}
observed = {"m alone": int(alone), "m together with x": int(together), "x": int(leaf)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (gradient.asked.together_with_a_leaf)")
