"""input.keywords.never_for_global: The function that registers a global forward pre-hook takes neither with_kwargs nor prepend.

Says which reading this torch has.
Checked by suites/input/test_options.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.modules.module, "register_module_forward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_forward_pre_hook")


def example(subject):
    from torch.nn.modules.module import register_module_forward_pre_hook

    raised = []
    for option in ("with_kwargs", "prepend"):
        try:
            register_module_forward_pre_hook(lambda module, args: None, **{option: True}).remove()
            raised.append("none")
        except TypeError as error:
            raised.append(type(error).__name__)
    assert raised == subject.value


READINGS = {
    'no options (every torch): register_module_forward_pre_hook takes the hook alone.': ['TypeError', 'TypeError'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
