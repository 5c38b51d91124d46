"""A tensor hook on an activation that a forward hook kept is called with None under torch.compile, and changes nothing.

Documentation: the hook is called with the gradient of the tensor, and can return one that is used in its place.
    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html
torch: makes the activation one more output of the compiled graph. The gradient does not pass it, so the hook gets None.
See also: https://github.com/pytorch/pytorch/issues/91468
"""

import torch

kept, seen = [], []
net = torch.nn.Sequential(*[torch.nn.Linear(1, 1, bias=False) for _ in range(2)])
for weight in net.parameters():
    torch.nn.init.constant_(weight, 3.0)
net[0].register_forward_hook(lambda module, args, output: kept.append(output))
x = torch.ones(1, requires_grad=True)
out = torch.compile(net, backend="aot_eager")(x)
kept[0].register_hook(lambda grad: seen.append(grad) if grad is None else 10 * grad)
out.backward()
documented = {"calls with None": 0, "x.grad": 90.0}
observed = {"calls with None": len(seen), "x.grad": x.grad.item()}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.aot_inner)")
