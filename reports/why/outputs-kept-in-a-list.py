"""A hook that keeps outputs keeps the graph behind each of them; detach() lets go of it."""

import gc
import weakref

import torch


class InTheGraph:
    """An object that a node of the graph holds."""


kept, layer = [], torch.nn.Linear(2, 2)
handle = layer.register_forward_hook(lambda module, args, output: kept.append(output))
held = InTheGraph()
layer(torch.ones(1, 2)).grad_fn.register_hook(lambda inputs, outputs, held=held: None)
graph = weakref.ref(held)
del held
gc.collect()
assert graph() is not None
kept[0] = kept[0].detach()
gc.collect()
print("graph alive after detach():", graph() is not None)
assert graph() is None
