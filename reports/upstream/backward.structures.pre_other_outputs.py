"""The full backward pre-hook of a module that returns a dict is not called.

Documentation: the hook is called every time the gradients for the module are computed.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook
torch: does not call it; a UserWarning while running says so.
"""

import torch


class Named(torch.nn.Module):
    def forward(self, x):
        return {"y": 2 * x}


calls, module, x = [], Named(), torch.ones((), requires_grad=True)
module.register_full_backward_pre_hook(lambda module, grad_output: calls.append(1))
module(x)["y"].backward()
documented = {"x.grad": 2, "calls": 1}
observed = {"x.grad": int(x.grad), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.structures.pre_other_outputs)")
