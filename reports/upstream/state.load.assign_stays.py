"""A dict that was loaded with assign=True is assigned by later loads, too.

Documentation: with assign=False, the default, the properties of the tensors in the module are kept: numbers are copied.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
torch: writes the option into the metadata of the caller's dict, where the next load of this dict finds it.
See also: https://github.com/pytorch/pytorch/issues/188166
"""

import torch

first, second = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
saved = torch.nn.Linear(1, 1).state_dict()
first.load_state_dict(saved, assign=True)
before, documented = second.weight, "copied"
second.load_state_dict(saved)
observed = "copied" if second.weight is before else "assigned"
print("a second module, loaded without assign=:")

print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {torch.__version__} contradicts its documentation (state.load.assign_stays)")
