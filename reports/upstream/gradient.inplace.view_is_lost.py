"""A hook on a view is not called after the view was changed in place.

Documentation: a hook registered before a change in place goes on to get the gradient, with respect to the value
    before it.
    https://docs.pytorch.org/docs/stable/notes/autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place
torch: gives the view a new history without its old grad_fn, so the hook, which is bound to that, never runs.
See also: https://github.com/pytorch/pytorch/pull/93116
Doubt: the section ends by tying hooks to the old grad_fn, which is not reached here; its opening promise is what
    fails.
"""

import torch

observed = []
x = torch.ones(2, requires_grad=True)
view = (3 * x)[:1]
view.register_hook(lambda grad: observed.append([int(value) for value in grad.tolist()]))
view.mul_(5)
(2 * view).sum().backward()
documented = [[10]]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (gradient.inplace.view_is_lost)")
