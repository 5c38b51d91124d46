"""handles.copies.older_state: A state that lacks the dict of forward hooks is accepted, and fails at the call.

Says which reading this torch has.
Checked by suites/handles/test_copies.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    module, raised = torch.nn.Identity(), "none"
    missing = ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
    for left in missing[1:], missing:
        older = torch.nn.Identity.__new__(torch.nn.Identity)
        older.__setstate__({name: value for name, value in vars(module).items() if name not in left})
        try:
            older("x")
            raised = "none"
        except AttributeError as error:
            raised = type(error).__name__
    assert raised == subject.value


READINGS = {
    'AttributeError (torch !=1.6.*,!=1.7.*): The dicts of options are made up for, this one is not.': 'AttributeError',
    'ModuleAttributeError (torch >=1.6,<1.8): A subclass of it, which two releases had.': 'ModuleAttributeError',
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
