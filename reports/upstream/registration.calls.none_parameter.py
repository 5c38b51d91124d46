"""The global parameter registration hook is not called for register_parameter(name, None).

Documentation: the hook is called every time register_parameter is invoked.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.module.register_module_parameter_registration_hook.html
torch: returns early for None, as in Linear(bias=False); the hooks of buffers and of modules are called with None.
Doubt: whoever reads a parameter in the hook is glad not to be given None.
"""

import torch

documented, observed = ["parameter"], []
everywhere = torch.nn.modules.module
everywhere.register_module_parameter_registration_hook(lambda module, name, value: observed.append("parameter"))
torch.nn.Module().register_parameter("bias", None)
print("hooks that register_parameter(name, None) calls:")

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (registration.calls.none_parameter)")
