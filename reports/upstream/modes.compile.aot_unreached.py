"""The parameter of an output that is not used gets .grad 0 under torch.compile, and its hooks run.

Documentation: after zero_grad() a backward pass leaves .grad None for parameters that did not receive a gradient.
    https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
torch: computes a gradient of zeros for it: .grad is 0, its hooks are called, and an optimizer with weight decay or
    momentum changes it.
See also: https://github.com/pytorch/pytorch/issues/131794
"""

import torch

calls = []
used, unused = (torch.nn.Parameter(torch.tensor(value)) for value in (2.0, 3.0))
unused.register_hook(lambda grad: calls.append("tensor"))
unused.register_post_accumulate_grad_hook(lambda parameter: calls.append("post-accumulate"))
torch.optim.SGD([used, unused]).zero_grad()
torch.compile(lambda: (5 * used, 5 * unused), backend="aot_eager")()[0].backward()
documented = {".grad": None, "hooks": []}
observed = {".grad": None if unused.grad is None else unused.grad.item(), "hooks": calls}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.aot_unreached)")
