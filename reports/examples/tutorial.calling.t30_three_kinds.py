"""tutorial.calling.t30_three_kinds: The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import inspect
import re
import torch
from types import SimpleNamespace


def example(subject):
    from torch.nn.modules import module

    kind = re.compile(r"register_(module_)?(full_)?(forward|backward)(_pre)?_hook")
    own = sorted(name for name in dir(torch.nn.Module) if kind.fullmatch(name))
    everywhere = sorted(name for name in dir(module) if kind.fullmatch(name))
    keywords = "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters
    assert (own, everywhere, keywords) == subject.value


READINGS = {
    'true (torch <1.6): Three kinds, no global hooks, no keyword arguments.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook'], [], False),
    'false since 1.6 (torch >=1.6,<1.8): Each kind also exists for all modules at once.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook'], False),
    'false since 1.8 (torch >=1.8,<2.0): Full backward hooks are a fourth kind.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook', 'register_module_full_backward_hook'], False),
    'false (torch >=2.0): Full backward pre-hooks are a fifth, and hooks can see keyword arguments.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook', 'register_full_backward_pre_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook', 'register_module_full_backward_hook', 'register_module_full_backward_pre_hook'], True),
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
