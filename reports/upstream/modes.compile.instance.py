"""Hooks of a model are ignored by torch.compile if another model of its class was compiled without hooks.

Documentation: hooks installed before torch.compile and not changed later are supported by default.
    https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html
torch: runs what it compiled for the other model, which has no hooks. Since 2.6 models of a class share it, and nothing
    guards that a dict of hooks is empty.
See also: https://github.com/pytorch/pytorch/issues/117758, https://github.com/pytorch/pytorch/pull/98371
As documented: runs
"""

import torch


class Scale(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Scale()

    def forward(self, x):
        return self.layer(x)


calls = []
plain, hooked = Model(), Model()
hooked.layer.register_forward_hook(lambda module, args, output: calls.append("hooked"))
torch.compile(plain, backend="eager")(torch.ones(2))
torch.compile(hooked, backend="eager")(torch.ones(2))
documented = ["hooked"]
observed = calls

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.instance)")
