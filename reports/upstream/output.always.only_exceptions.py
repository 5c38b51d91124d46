"""When KeyboardInterrupt, SystemExit or GeneratorExit ends a call, no always_call hook runs because of it.

Documentation: with always_call=True the hook runs regardless of whether an exception is raised while calling the
    module.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook
torch: runs it for exceptions that derive from Exception only.
"""

import torch


class Fails(torch.nn.Module):
    def forward(self, error):
        raise error


errors = (KeyboardInterrupt, SystemExit, GeneratorExit, ValueError)
observed, module = [], Fails()
module.register_forward_hook(lambda module, args, output: observed.append(args[0].__name__), always_call=True)
for error in errors:
    try:
        module(error)
    except errors:
        continue
documented = [error.__name__ for error in errors]

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (output.always.only_exceptions)")
