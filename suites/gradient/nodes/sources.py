"""What torch's documentation says of hooks of nodes, and what of torch their pre-hooks need."""

HOOK = "docs: torch.autograd.graph.Node.register_hook"
PRE_HOOK = "docs: torch.autograd.graph.Node.register_prehook"
PRE_REPLACES = f'{PRE_HOOK} "a new gradient which will be used in place of"'
AFTER_TENSOR_HOOKS = (
    "note: autograd.html#backward-hooks-execution "
    '"hooks registered to Tensor are executed 2. pre-hook registered to Node are executed"'
)
#: torch.autograd.graph.Node, where it is documented, came later than the method.
HAS_PRE = "torch._C._functions.AccumulateGrad.register_prehook"
