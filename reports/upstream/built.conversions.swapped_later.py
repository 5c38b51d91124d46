"""A parameter that once had a hook never runs a hook again after it was swapped by a conversion.

Documentation: a tensor hook is called every time a gradient with respect to the tensor is computed.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: swaps what is below the parameter, but not its dict of hooks; a new hook goes into the dict and nowhere else.
Doubt: the flag is of torch.__future__; tensor subclasses that wrap others are swapped without it, too.
See also: https://github.com/pytorch/pytorch/pull/117167
"""

import torch

calls, module = [], torch.nn.Linear(1, 1)
module.weight.register_hook(lambda grad: None).remove()
torch.__future__.set_swap_module_params_on_conversion(True)
module.double()
module.weight.register_hook(lambda grad: calls.append(1))
module.weight.sum().backward()
documented = {"gradient": 1.0, "calls": 1}
observed = {"gradient": module.weight.grad.item(), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (built.conversions.swapped_later)")
