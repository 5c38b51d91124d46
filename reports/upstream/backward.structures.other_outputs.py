"""The full hook of a module that returns a list, an iterator or an object is not called.

Documentation: the hook is called every time gradients of the module are computed; ordinarily when those of its inputs
    are.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
torch: does not call the hook, for it looks for tensors in a tuple only; a UserWarning while running says so.
See also: https://github.com/pytorch/pytorch/issues/87540, https://github.com/pytorch/pytorch/pull/87547
"""

import torch


class Holder:
    def __init__(self, y):
        self.y = y


class Returns(torch.nn.Module):
    def __init__(self, wrap):
        super().__init__()
        self.wrap = wrap

    def forward(self, x):
        return self.wrap(2 * x)


documented, observed = {}, {}
wraps = {"list": lambda y: [y], "iterator": lambda y: iter([y]), "object": Holder}
takes = {"list": lambda out: out[0], "iterator": next, "object": lambda out: out.y}
for kind, wrap in wraps.items():
    calls, module, x = [], Returns(wrap), torch.ones((), requires_grad=True)
    module.register_full_backward_hook(lambda module, grad_input, grad_output, calls=calls: calls.append(1))
    takes[kind](module(x)).backward()
    documented[kind], observed[kind] = {"x.grad": 2, "calls": 1}, {"x.grad": int(x.grad), "calls": len(calls)}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (backward.structures.other_outputs)")
