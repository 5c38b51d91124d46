"""A legacy hook of a Conv2d gets the gradients of weight and bias in grad_input too.

Documentation: up to 1.7: the hook gets the gradients of the module's inputs; today: it is deprecated and will change.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_backward_hook
torch: gives three gradients, of input, weight and bias, and None in place of a bias that is not there.
See also: https://github.com/pytorch/pytorch/issues/7040
Doubt: nothing in today's docs says what grad_input is; the promise stood there up to 1.7, with a warning for modules
    of several operations. Closed upstream in favour of the full hook.
"""

import torch


def shapes_given(layer, *size):
    seen = []
    layer.register_backward_hook(lambda module, grad_input, grad_output: seen.extend(grad_input))
    layer(torch.ones(size, requires_grad=True) * 1).sum().backward()
    return [None if grad is None else tuple(grad.shape) for grad in seen]


documented = [[(1, 1, 5, 5)], [(1, 1, 5, 5)]]
observed = [shapes_given(torch.nn.Conv2d(1, 2, 3, bias=bias), 1, 1, 5, 5) for bias in (True, False)]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.legacy.convolution)")
