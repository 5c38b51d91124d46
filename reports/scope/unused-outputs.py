"""An output that is not in the loss has None in the grad_output of a full backward hook."""

import torch

seen = []


class Two(torch.nn.Module):
    def forward(self, x):
        return 2 * x, 3 * x


layer = Two()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output))
layer(torch.ones((), requires_grad=True))[0].backward()
print(seen)
assert seen[0][1] is None
