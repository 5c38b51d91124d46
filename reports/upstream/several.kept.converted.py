"""After m.double() a multi-grad hook that was on the parameters of m is not called.

Documentation: after every non-ignored tensor's gradient has been computed, the hook is called with those
    gradients.
    https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.register_multi_grad_hook
torch: gives the parameters new nodes that accumulate, and the hook goes on to ask for the old ones; tensor hooks stay.
"""

import torch
from torch.autograd.graph import register_multi_grad_hook

m = torch.nn.Linear(1, 1)
observed = []
register_multi_grad_hook(list(m.parameters()), lambda grads: observed.append(len(grads)))
m.double()
m(torch.ones(1, 1, dtype=torch.float64)).sum().backward()
documented = [2]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (several.kept.converted)")
