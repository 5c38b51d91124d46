"""handles.handle.signatures: register_forward_hook takes prepend=, with_kwargs= and always_call=, the global one the last two.

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
    'the hook alone (torch <1.6): Forward hooks and pre-hooks have no options, and no global ones can be registered.': {'register_forward_pre_hook': [], 'register_forward_hook': []},
    'global ones (torch >=1.6,<2.0): The functions that register forward hooks and pre-hooks, global ones too, have no options.': {'register_forward_pre_hook': [], 'register_forward_hook': [], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': []},
    'prepend and with_kwargs (torch ==2.0.*): register_forward_hook takes prepend= and with_kwargs=, not always_call=; the global one has no options.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': []},
    'always_call (torch >=2.1,<2.6): register_forward_hook takes prepend=, with_kwargs= and always_call=, the global one always_call= alone.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs', 'always_call'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': ['always_call']},
    'global with_kwargs (torch >=2.6): register_module_forward_hook takes with_kwargs= and always_call=, and no prepend=.': {'register_forward_pre_hook': ['prepend', 'with_kwargs'], 'register_forward_hook': ['prepend', 'with_kwargs', 'always_call'], 'register_module_forward_pre_hook': [], 'register_module_forward_hook': ['with_kwargs', 'always_call']},
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
