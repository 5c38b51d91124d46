"""A forward pre-hook with with_kwargs=True returns a pair: a bare tensor raises RuntimeError."""

import torch

layer = torch.nn.Identity()
layer.register_forward_pre_hook(lambda module, args, kwargs: args[0], with_kwargs=True)
try:
    layer(torch.ones(2))
    raise SystemExit("no error")
except RuntimeError as error:
    print(error)
