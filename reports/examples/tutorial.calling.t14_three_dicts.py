"""tutorial.calling.t14_three_dicts: A module keeps forward and backward hooks in three OrderedDicts, each under its handle's id.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import re
import torch
from collections import OrderedDict
from types import SimpleNamespace


def example(subject, times, removed):
    from torch.utils.hooks import RemovableHandle

    dicts = set()
    for register in dir(torch.nn.Module):
        if re.fullmatch(r"register_(full_)?(forward|backward)(_pre)?_hook", register):
            module = torch.nn.Module()
            others = set(vars(module))
            handles = [getattr(module, register)(print) for _ in range(times)]
            assert {type(handle) for handle in handles} == {RemovableHandle}
            if removed:
                handles.pop(0).remove()
            kept = [(handle.id, print) for handle in handles]
            found = [name for name in others if isinstance(vars(module)[name], OrderedDict) and vars(module)[name]]
            assert [list(vars(module)[name].items()) for name in found] == [kept] * bool(kept)
            dicts.update(found)
    assert sorted(dicts) == (subject.value if times > removed else [])


READINGS = {
    "true (torch <2.0): Hooks are in _forward_pre_hooks, _forward_hooks and _backward_hooks, each under its handle's id.": ['_backward_hooks', '_forward_hooks', '_forward_pre_hooks'],
    'false (torch >=2.0): Full backward pre-hooks of a module are in a fourth dict, _backward_pre_hooks.': ['_backward_hooks', '_backward_pre_hooks', '_forward_hooks', '_forward_pre_hooks'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), times=1, removed=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
