"""input.keywords.flag_is_keyword_only: The options of register_forward_pre_hook are given by name: a second position raises TypeError.

Says which reading this torch has.
Checked by suites/input/test_options.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_pre_hook(with_kwargs)")


def example(subject):
    raised = "none"
    try:
        torch.nn.Identity().register_forward_pre_hook(lambda module, args: None, True)
    except TypeError as error:
        raised = type(error).__name__
    assert raised == subject.value


READINGS = {
    'by name (every torch): In register_forward_pre_hook prepend and with_kwargs are keyword-only.': 'TypeError',
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
