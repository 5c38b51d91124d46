"""Where warnings are errors, a call that would only warn raises."""

import warnings

import torch

warnings.simplefilter("error")
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
try:
    layer(torch.ones(1, 2)).sum().backward()
    raise SystemExit("no error")
except UserWarning as error:
    print(error)
