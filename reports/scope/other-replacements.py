"""A tensor hook that returns a gradient of another shape ends backward() with RuntimeError."""

import torch

x = torch.ones(2, requires_grad=True)
x.register_hook(lambda grad: grad.sum())
try:
    (2 * x).sum().backward()
    raise SystemExit("no error")
except RuntimeError as error:
    print(error)
