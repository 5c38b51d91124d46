"""In inference mode a full backward hook is not set up, and the output takes no tensor hook."""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return 2 * x


layer = Scale()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
with torch.inference_mode():
    output = layer(torch.ones(2, requires_grad=True))
print(output.requires_grad)
assert not output.requires_grad
