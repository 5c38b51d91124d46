"""Removing a global forward hook leaves its entry for with_kwargs behind.

Documentation: the handle's remove() removes the added hook.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_forward_hook.html
torch: removes the hook and keeps its id in the dict of the hooks with keyword arguments, for good.
Doubt: a leak in a private dict; the docs do not speak of it.
"""

import torch
from torch.nn.modules import module

for _ in range(3):
    handle = module.register_module_forward_hook(lambda module, args, kwargs, output: None, with_kwargs=True)
    handle.remove()
print("hooks and entries that are left after three were registered and removed:")
documented = [0, 0]
observed = [len(module._global_forward_hooks), len(module._global_forward_hooks_with_kwargs)]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (handles.removal.global_keywords_stay)")
