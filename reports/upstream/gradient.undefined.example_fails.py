"""The documentation's own hook, grad * 2, fails on an output that is not used: it gets None.

Documentation: the hook is called with a gradient, a tensor, and the example multiplies it by 2; None is not
    mentioned.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: calls the hook with None, and backward() ends with TypeError.
See also: https://github.com/pytorch/pytorch/issues/11751
"""

import torch

x = torch.ones(2, requires_grad=True)
used, unused = x.unbind(0)
unused.register_hook(lambda grad: grad * 2)
try:
    (2 * used).backward()
    observed = [int(value) for value in x.grad.tolist()]
except (TypeError, RuntimeError) as error:
    observed = type(error).__name__
documented = [2, 0]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (gradient.undefined.example_fails)")
