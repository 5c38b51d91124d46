"""A pre-hook with with_kwargs=True that returns (tensor, kwargs) has the tensor spread by rows.

Documentation: the hook returns the modified input and the kwargs; without with_kwargs a single value is wrapped into
    a tuple.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_pre_hook
torch: calls forward with one argument per row of the tensor, and wraps or refuses nothing.
Doubt: the docs leave open whether the input of the pair has to be a tuple; wrapping is promised without with_kwargs
    only.
"""

import torch


class Echo(torch.nn.Module):
    def forward(self, *args):
        return [value.tolist() for value in args]


module = Echo()
given = torch.tensor([[1, 2], [3, 4]])
module.register_forward_pre_hook(lambda module, args, kwargs: (given, kwargs), with_kwargs=True)
documented = [given.tolist()]
observed = module(torch.tensor(0))

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (input.keywords.args_are_spread)")
