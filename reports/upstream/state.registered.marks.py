"""Registering a function on one module breaks state_dict() of another, which has it as a private hook.

Documentation: a private state-dict hook may return a dict; a registration concerns the module that it is made on.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_state_dict_post_hook
torch: register_state_dict_post_hook() marks the function, not the registration, and the mark is never taken away.
See also: https://github.com/pytorch/pytorch/pull/131690
Doubt: the private method is not documented on a page.
"""

import torch


def hook(module, state_dict, prefix, local_metadata):
    return state_dict


first, second, documented = torch.nn.Identity(), torch.nn.Identity(), "saved"
first._register_state_dict_hook(hook)
second.register_state_dict_post_hook(hook).remove()
try:
    first.state_dict()
    observed = "saved"
except RuntimeError:
    observed = "RuntimeError"
print("state_dict() of the module with the private hook:")

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (state.registered.marks)")
