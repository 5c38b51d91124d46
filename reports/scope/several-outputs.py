"""With several outputs grad_output has an entry for each."""

import torch

seen = []


class Two(torch.nn.Module):
    def forward(self, x):
        return 2 * x, 3 * x


layer = Two()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(len(grad_output)))
sum(layer(torch.ones((), requires_grad=True))).backward()
print(seen)
assert seen == [2]
