"""What torch's documentation says of hooks of several tensors, and what of torch they need."""

DOCS = "docs: torch.autograd.graph.register_multi_grad_hook"
ALL = f'{DOCS} "called after gradients with respect to every tensor"'
ANY = f'{DOCS} "called after the first gradient"'
HAS_ALL = "torch.autograd.graph.register_multi_grad_hook"
HAS_ANY = "torch.autograd.graph.register_multi_grad_hook(mode)"
