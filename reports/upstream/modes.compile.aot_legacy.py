"""A legacy backward hook on a module compiled with "aot_eager" is given the gradients of the whole graph.

Documentation: hooks installed before torch.compile are supported; backward hooks generally are, too, with caveats.
    https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html
torch: calls the hook for the node of the whole graph. What it returns replaces the gradients of x and of the weight; in
    eager mode it replaces those of the last operation.
Doubt: register_backward_hook is deprecated; in eager mode, too, its grad_input is not that of the module.
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(3.0))

    def forward(self, x):
        return self.weight * x + x


def x_grad(run):
    net, x = Net(), torch.tensor(5.0, requires_grad=True)
    net.register_backward_hook(lambda module, grad_input, grad_output: (10 * grad_input[0], *grad_input[1:]))
    run(net)(x).backward()
    return x.grad.item()


documented = {"x.grad": x_grad(lambda net: net)}
observed = {"x.grad": x_grad(lambda net: torch.compile(net, backend="aot_eager"))}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.aot_legacy)")
