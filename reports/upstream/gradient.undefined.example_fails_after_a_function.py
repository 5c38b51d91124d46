"""The documentation's own hook, grad * 2, fails before a Function whose backward returns None.

Documentation: the hook is called with a gradient, a tensor, and the example multiplies it by 2; None is not
    mentioned.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: calls the hook with None, and backward() ends with TypeError.
As documented: works
See also: https://github.com/pytorch/pytorch/pull/12028
"""

import torch


class Silent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


y = 2 * torch.ones((), requires_grad=True)
y.register_hook(lambda grad: grad * 2)
try:
    Silent.apply(y).backward()
    observed = "backward() ends"
except (TypeError, RuntimeError) as error:
    observed = type(error).__name__
documented = "backward() ends"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(
        f"torch {torch.__version__} contradicts its documentation (gradient.undefined.example_fails_after_a_function)"
    )
