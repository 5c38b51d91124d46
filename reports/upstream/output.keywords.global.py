"""A global forward hook with with_kwargs=True gets the keyword arguments its docs withhold.

Documentation: the input contains positional arguments only, and keyword arguments are not passed to the hooks.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_forward_hook.html
torch: passes them with with_kwargs=True, which stands in the signature and nowhere in the text.
See also: https://github.com/pytorch/pytorch/pull/137403
"""

import torch
from torch.nn.modules.module import register_module_forward_hook


class Scale(torch.nn.Module):
    def forward(self, x, by):
        return by * x


seen = []
with register_module_forward_hook(lambda module, *given: seen.extend(given), with_kwargs=True):
    Scale()(2, by=3)
print("what a global hook gets after the module:")
documented = [(2,), 6]
observed = seen

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (output.keywords.global)")
