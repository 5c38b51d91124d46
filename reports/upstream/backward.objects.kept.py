"""With a full hook forward gets the caller's own tensor, not a view, where no input needs a gradient.

Documentation: for technical reasons forward gets a view of each tensor that is passed in, and the caller one of each
    returned.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: passes the same object on where no input needs a gradient.
"""

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        inside.append(x)
        return self.weight * x


inside, x, module = [], torch.ones(()), Scale()
module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
module(x)
documented = "a view"
observed = "the caller's own tensor" if inside[0] is x else "a view"

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.objects.kept)")
