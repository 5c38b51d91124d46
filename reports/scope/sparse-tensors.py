"""A tensor hook on a weight with sparse gradients is given a sparse tensor."""

import torch

seen = []
layer = torch.nn.Embedding(4, 2, sparse=True)
layer.weight.register_hook(lambda grad: seen.append(grad.is_sparse))
layer(torch.tensor([1])).sum().backward()
print(seen)
assert seen == [True]
