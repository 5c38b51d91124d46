"""The gradient of an output that the loss also uses by another way is only the part that comes by the output."""

import torch

kept, seen = [], []
layer = torch.nn.Linear(2, 2)


def keeps(module, args, output):
    kept.append(2 * output)
    return kept[0]


layer.register_forward_hook(keeps)
layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output[0].tolist()))
output = layer(torch.ones(1, 2, requires_grad=True))
(output.sum() + 5 * kept[0].sum()).backward()
print(seen)
assert seen == [[[1, 1]]]
