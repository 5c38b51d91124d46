"""In eval mode TransformerEncoderLayer may take a path of its own, and other layers return their input."""

import torch

x = torch.ones(2)
layer = torch.nn.Dropout(0.5).eval()
seen = []
layer.register_forward_hook(lambda module, args, output: seen.append(output is x or output.data_ptr() == x.data_ptr()))
layer(x)
print(seen)
assert seen == [True]
