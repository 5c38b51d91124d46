"""A post-accumulate hook is called although nothing was accumulated and .grad is None.

Documentation: the hook is called after all gradients of the tensor have been accumulated, which means that .grad has
    been updated.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html
torch: calls it also where the gradient is undefined: .grad is None then, or what an earlier pass left.
As documented: not called
"""

import torch


class Silent(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


x, observed = torch.ones((), requires_grad=True), []
x.register_post_accumulate_grad_hook(lambda leaf: observed.append(leaf.grad))
Silent.apply(x).backward()
print(".grad of the leaf, at each call of the hook:")
documented = []

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (gradient.accumulated.undefined)")
