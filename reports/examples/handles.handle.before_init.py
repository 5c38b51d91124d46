"""handles.handle.before_init: Registering a hook before super().__init__() raises AttributeError.

Says which reading this torch has.
Checked by suites/handles/test_modules.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    raised = "none"

    class Early(torch.nn.Module):
        def __init__(self):
            self.register_forward_hook(print)
            super().__init__()

    try:
        Early()
    except AttributeError as error:
        raised = type(error).__name__
    assert raised == subject.value


READINGS = {
    'AttributeError (torch !=1.6.*,!=1.7.*): Registering a hook before super().__init__() raises AttributeError.': 'AttributeError',
    'ModuleAttributeError (torch >=1.6,<1.8): Registering a hook before super().__init__() raises ModuleAttributeError, an AttributeError.': 'ModuleAttributeError',
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
