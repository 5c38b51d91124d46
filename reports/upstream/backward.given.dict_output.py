"""The full hook of a module that returns a dict is not called, though its input gets a gradient.

Documentation: the hook is called every time gradients of the module are computed; ordinarily when those of its inputs
    are.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: does not call the hook, for it looks for tensors in a tuple only; a UserWarning while running says so.
See also: https://github.com/pytorch/pytorch/issues/87540, https://github.com/pytorch/pytorch/pull/87547
"""

import torch


class Named(torch.nn.Module):
    def forward(self, x):
        return {"y": 2 * x}


calls, module, x = [], Named(), torch.ones((), requires_grad=True)
module.register_full_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
module(x)["y"].backward()
documented = {"x.grad": 2, "calls": 1}
observed = {"x.grad": int(x.grad), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.given.dict_output)")
