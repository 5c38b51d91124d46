"""A traced module calls hooks while it is traced, and none afterwards."""

import torch

seen = []
layer = torch.nn.Linear(2, 2)
layer.register_forward_hook(lambda module, args, output: seen.append("hook"))
traced = torch.jit.trace(layer, torch.ones(1, 2))
before = len(seen)
traced(torch.ones(1, 2))
print("while tracing:", before, "afterwards:", len(seen) - before)
assert before
assert len(seen) == before
