"""torch.compile ignores a backward hook on a layer of torch.nn in a block if a like one before it in a loop has none.

Documentation: hooks installed before torch.compile and not changed later are supported by default.
    https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html
torch: the hook breaks the graph, so each block is compiled by itself. Since 2.5 the second one runs what was compiled
    for the first, which has no hooks: nothing guards that a dict of hooks is empty.
See also: https://github.com/pytorch/pytorch/issues/117758, https://github.com/pytorch/pytorch/issues/115750
As documented: runs
"""

import torch


class Block(torch.nn.ModuleList):
    def forward(self, x):
        return self[0](x)


calls = []
model = torch.nn.Sequential(Block([torch.nn.Linear(2, 2)]), Block([torch.nn.Linear(2, 2)]))
model[1][0].register_full_backward_hook(lambda module, grad_input, grad_output: calls.append("hooked"))
torch.compile(model, backend="eager")(torch.ones(2, requires_grad=True)).sum().backward()
documented = ["hooked"]
observed = calls

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.repeated_layer)")
