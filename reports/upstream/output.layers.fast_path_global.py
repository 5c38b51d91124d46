"""A global forward hook does not see the parts of a TransformerEncoderLayer on its fast path.

Documentation: a global hook is for all modules and called every time after forward has computed an output.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_forward_hook.html
torch: takes the fast path in spite of the hook, so linear1 is never called; a hook on linear1 itself is heeded since
    2.5.
See also: https://github.com/pytorch/pytorch/pull/75809
Doubt: forward of linear1 did not run, and the layer's own page lists the conditions of the fast path, which are met
    here.
"""

import torch
from torch.nn.modules.module import register_module_forward_hook

seen = []
layer = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
with torch.no_grad(), register_module_forward_hook(lambda module, args, output: seen.append(module)):
    layer(torch.ones(1, 2, 4))
documented = {"calls for the layer": 1, "calls for linear1": 1}
observed = {"calls for the layer": seen.count(layer), "calls for linear1": seen.count(layer.linear1)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (output.layers.fast_path_global)")
