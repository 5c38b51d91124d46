"""A retained .grad is set before the pre-hooks of the node run, not after.

Documentation: pre-hooks of the Node are step 2 of the order, the update of a retained .grad is step 3.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#the-order-in-which-the-different-hooks-are-fired
torch: sets .grad first: it holds 2, not the 20 that the pre-hook returns and that goes on to x.
"""

import torch

x = torch.ones((), requires_grad=True)
y = 3 * x
y.retain_grad()
y.grad_fn.register_prehook(lambda grads: (10 * grads[0],))
(2 * y).backward()
documented = {"y.grad": 20, "x.grad": 60}
observed = {"y.grad": int(y.grad), "x.grad": int(x.grad)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (retain.nodes.before_pre_hooks)")
