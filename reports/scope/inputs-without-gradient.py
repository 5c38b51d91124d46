"""In the first layer of a network no input needs a gradient: grad_input of a full backward hook is (None,)."""

import torch

seen = []
layer = torch.nn.Linear(2, 2)
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
layer(torch.ones(1, 2)).sum().backward()
print(seen)
assert seen == [(None,)]
