"""handles.handle.signatures: The functions that register hooks around forward take the hook and, by name, the options they know.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace


def example(subject):
    from torch.nn.modules import module as everywhere

    options = {}
    for place, kind in ((torch.nn.Module, ""), (everywhere, "module_")):
        for name in (f"register_{kind}forward_pre_hook", f"register_{kind}forward_hook"):
            if hasattr(place, name):
                # What is not keyword-only is given with its kind, so that it would be seen.
                parameters = list(inspect.signature(getattr(place, name)).parameters.values())
                first = ["self", "hook"] if place is torch.nn.Module else ["hook"]
                options[name] = [
                    one.name if one.kind is one.KEYWORD_ONLY else f"{one.kind} {one.name}"
                    for one in parameters[len(first) :]
                ]
    assert options == subject.value


READINGS = {
    'the hook alone (torch <1.6): No global functions yet.': {'register_forward_pre_hook': [], 'register_forward_hook': []},
    'global ones (torch >=1.6,<2.0): The global functions take the hook alone too.': {'register_forward_pre_hook': [], 'register_forward_hook': [], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': []},
    'prepend and with_kwargs (torch ==2.0.*): The methods have options.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': []},
    'always_call (torch >=2.1,<2.6): One more for forward hooks, global ones included.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs', 'always_call'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': ['always_call']},
    'global with_kwargs (torch >=2.6): Global forward hooks may ask for keywords; there is no prepend.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs', 'always_call'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': ['with_kwargs', 'always_call']},
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
