"""tutorial.calling.t14_three_dicts: A module keeps forward and backward hooks in three OrderedDicts, each under its handle's id.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import re
import torch
from types import SimpleNamespace


def example(subject):
    handles, dicts = set(), set()
    for register in dir(torch.nn.Module):
        if re.fullmatch(r"register_(full_)?(forward|backward)(_pre)?_hook", register):
            module = torch.nn.Module()
            handle = getattr(module, register)(print)
            handles.add(type(handle).__name__)
            for name, value in vars(module).items():
                if type(value).__name__ == "OrderedDict" and value.get(handle.id) is print:
                    dicts.add(name)
    assert (sorted(handles), sorted(dicts)) == subject.value


READINGS = {
    'true (torch <2.0): _forward_pre_hooks, _forward_hooks and _backward_hooks.': (['RemovableHandle'], ['_backward_hooks', '_forward_hooks', '_forward_pre_hooks']),
    'false (torch >=2.0): Full backward pre-hooks have a fourth, _backward_pre_hooks.': (['RemovableHandle'], ['_backward_hooks', '_backward_pre_hooks', '_forward_hooks', '_forward_pre_hooks']),
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
