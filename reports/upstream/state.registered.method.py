"""register_state_dict_post_hook() refuses a bound method with AttributeError.

Documentation: the hook has the signature hook(module, state_dict, prefix, local_metadata); any callable will do.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_state_dict_post_hook
torch: sets an attribute on the hook, which a bound method does not take; all others that register hooks take one.
See also: https://github.com/pytorch/pytorch/pull/131690
Doubt: the documentation names no callable that is refused; it does not promise all of them either.
"""

import torch


class Saver:
    def hook(self, module, state_dict, prefix, local_metadata):
        state_dict["saved by"] = "me"


module, documented = torch.nn.Identity(), "registered"
try:
    module.register_state_dict_post_hook(Saver().hook)
    observed = "registered"
except AttributeError:
    observed = "AttributeError"
print("register_state_dict_post_hook() of a bound method:")

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (state.registered.method)")
