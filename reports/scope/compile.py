"""Under a functional transform a full backward hook ends the call with RuntimeError."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
try:
    torch.func.grad(lambda x: layer(x).sum())(torch.ones(2))
    raise SystemExit("no error")
except RuntimeError as error:
    print(type(error).__name__)
