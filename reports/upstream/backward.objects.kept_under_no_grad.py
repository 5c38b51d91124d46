"""Under no_grad a full hook makes no views: forward and the caller get the objects themselves.

Documentation: for technical reasons forward gets a view of each tensor that is passed in, and the caller one of each
    returned.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: passes inputs and outputs on as they are under no_grad.
See also: https://github.com/pytorch/pytorch/issues/59901
"""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        inside.extend([x, 2 * x])
        return inside[1]


inside, x, module = [], torch.ones((), requires_grad=True), Scale()
module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
with torch.no_grad():
    out = module(x)
documented = {"input": "a view", "output": "a view"}
observed = {
    "input": "the same object" if inside[0] is x else "a view",
    "output": "the same object" if inside[1] is out else "a view",
}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.objects.kept_under_no_grad)")
