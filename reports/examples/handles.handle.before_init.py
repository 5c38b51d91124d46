"""handles.handle.before_init: Registering a hook before super().__init__() raises AttributeError.

Says which reading this torch has. Checked by suites/handles/test_modules.py of torch-hook-conformance.
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
    'AttributeError (torch !=1.6.*,!=1.7.*): There is no dict yet to put it in.': 'AttributeError',
    'ModuleAttributeError (torch >=1.6,<1.8): A subclass of it, which two releases had.': 'ModuleAttributeError',
}

for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    print("torch", torch.__version__, "-", reading)
    break
else:
    raise SystemExit(f"torch {torch.__version__} has none of these readings")
