"""retain_grad() on an activation that a forward hook kept leaves .grad None under torch.compile.

Documentation: retain_grad() enables a tensor to have its .grad populated during backward().
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html
torch: makes the activation one more output of the compiled graph. The gradient does not pass it, so .grad stays None.
See also: https://github.com/pytorch/pytorch/issues/91468, https://github.com/pytorch/pytorch/issues/146212
"""

import torch

kept = []
net = torch.nn.Sequential(*[torch.nn.Linear(1, 1, bias=False) for _ in range(2)])
for weight in net.parameters():
    torch.nn.init.constant_(weight, 3.0)
net[0].register_forward_hook(lambda module, args, output: kept.append(output))
out = torch.compile(net, backend="aot_eager")(torch.ones(1))
kept[0].retain_grad()
out.backward()
documented = {".grad": 3.0}
observed = {".grad": None if kept[0].grad is None else kept[0].grad.item()}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.aot_retain)")
