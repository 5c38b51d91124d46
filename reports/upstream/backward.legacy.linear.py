"""What a legacy hook of a Linear gets as grad_input depends on bias and input dimensions.

Documentation: up to 1.7: the hook gets the gradients of the module's inputs; today: it is deprecated and will change.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_backward_hook
torch: gives the gradients of the inputs of the last operation: of bias, input and transposed weight, or of their
    product.
See also: https://github.com/pytorch/pytorch/issues/16276, https://github.com/pytorch/pytorch/issues/7040
Doubt: nothing in today's docs says what grad_input is; the promise stood there up to 1.7, with a warning for modules
    of several operations. Closed upstream in favour of the full hook.
"""

import torch


def shapes_given(layer, *size):
    seen = []
    layer.register_backward_hook(lambda module, grad_input, grad_output: seen.extend(grad_input))
    layer(torch.ones(size, requires_grad=True) * 1).sum().backward()
    return [None if grad is None else tuple(grad.shape) for grad in seen]


sizes = (3,), (4, 3), (5, 4, 3)
documented = [[size] for size in sizes]
observed = [shapes_given(torch.nn.Linear(3, 2), *size) for size in sizes]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.legacy.linear)")
