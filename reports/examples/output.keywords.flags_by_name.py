"""output.keywords.flags_by_name: The options of register_forward_hook are given by name: a second position raises TypeError.

Says which reading this torch has.
Checked by suites/output/test_keywords.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(with_kwargs)")


def example(subject):
    raised = "none"
    try:
        torch.nn.Identity().register_forward_hook(lambda module, args, output: None, True)
    except TypeError as error:
        raised = type(error).__name__
    assert raised == subject.value


READINGS = {
    'by name (every torch): In register_forward_hook prepend, with_kwargs and always_call are keyword-only.': 'TypeError',
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
