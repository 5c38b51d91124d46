"""A backward hook on a layer of torch.nn in a block is ignored by torch.compile if a like block before it has none.

Documentation: hooks installed before torch.compile and not changed later are supported by default.
    https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html
torch: the hook breaks the graph, so each block is compiled by itself. Since 2.5 the second one runs what was compiled
    for the first, which has no hooks: nothing guards that a dict of hooks is empty.
See also: https://github.com/pytorch/pytorch/issues/117758, https://github.com/pytorch/pytorch/issues/115750
As documented: runs
"""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


calls = []
model = Model()
model.blocks[1].layer.register_full_backward_hook(lambda module, grad_input, grad_output: calls.append("hooked"))
torch.compile(model, backend="eager")(torch.ones(2, requires_grad=True)).sum().backward()
documented = ["hooked"]
observed = calls

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.repeated_layer)")
