"""A global hook with with_kwargs and always_call does not run when forward fails.

Documentation: with always_call=True the hook runs whether or not an exception is raised; with_kwargs stands in the
    signature.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_forward_hook.html
torch: calls it without the keyword arguments after a failure: four parameters end in a TypeError that becomes a
    warning.
See also: https://github.com/pytorch/pytorch/pull/137403
"""

from contextlib import suppress

import torch
from torch.nn.modules.module import register_module_forward_hook


class Fails(torch.nn.Module):
    def forward(self, x, by):
        raise ValueError


def hook(module, args, kwargs, output):
    observed.append(kwargs)


observed = []
with suppress(ValueError), register_module_forward_hook(hook, with_kwargs=True, always_call=True):
    Fails()(1, by=3)
print("keyword arguments that the hook was given:")
documented = [{"by": 3}]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (output.always.global_keywords_lost)")
