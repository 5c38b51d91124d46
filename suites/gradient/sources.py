"""What torch's documentation, notes and code say of tensor hooks: sources with the words that clauses quote."""

ADDS = 'docs: torch.Tensor.grad "will accumulate (add) gradients into it"'
CALLED = 'docs: torch.Tensor.register_hook "called every time a gradient with respect to the Tensor is computed"'
LAYOUT = (
    "https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts "
    '"is created with strides matching ``param``"'
)
NOT_ACCUMULATED = 'docs: torch.autograd.grad "will be returned (and not accumulated into ``.grad``)"'
OTHERS_IGNORED = 'docs: torch.Tensor.backward "All other tensors will be ignored"'
REFUSED = 'code: torch/_tensor.py "cannot register a hook on a tensor that doesn\'t require gradient"'
REMOVES = 'docs: torch.Tensor.register_hook "returns a handle with a method ``handle.remove()``"'
REPLACES = 'docs: torch.Tensor.register_hook "a new gradient which will be used in place of"'
RETAINED_LAST = (
    "code: torch/include/torch/csrc/autograd/node.h "
    '"retains_grad_hook are like tensor_pre_hooks except they are always"'
)
SIGNATURE = 'docs: torch.Tensor.register_hook "hook(grad) -> Tensor or None"'
