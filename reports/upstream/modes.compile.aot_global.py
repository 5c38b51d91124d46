"""A global forward hook also runs for a GraphModule that torch.compile makes, and changes what the network returns.

Documentation: hooks installed before torch.compile and not changed later are supported.
    https://docs.pytorch.org/docs/stable/torch.compiler_nn_module.html
torch: calls the hook once more, for a GraphModule of its own: what the hook doubles is doubled twice.
See also: https://github.com/pytorch/pytorch/issues/149502, https://github.com/pytorch/pytorch/pull/152740
As documented: does not
Doubt: global hooks are for debugging; that they run for the wrapper of torch.compile, too, was called expected.
"""

import torch

net, x = torch.nn.Linear(1, 1, bias=False), torch.ones(1)
torch.nn.init.ones_(net.weight)


def twice(module, args, output):
    return torch.utils._pytree.tree_map(lambda one: 2 * one, output)


def call(given):
    return net(given)


with torch.nn.modules.module.register_module_forward_hook(twice):
    documented = {"output": call(x).item()}
    observed = {"output": torch.compile(call, backend="aot_eager")(x).item()}

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (modes.compile.aot_global)")
