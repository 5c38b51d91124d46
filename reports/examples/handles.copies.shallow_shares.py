"""handles.copies.shallow_shares: A module, its copy.copy() and its DataParallel replica call the same forward hooks, later ones too.

Says which reading this torch has.
Checked by suites/handles/test_copies.py of torch-hook-conformance.
"""

import copy
import torch
from types import SimpleNamespace


def example(subject, on, removed):
    seen, module = [], torch.nn.Identity()
    # A replica has the dict of hooks of its module too.
    modules = [module, copy.copy(module), module._replicate_for_data_parallel()]
    handles = [
        modules[place].register_forward_hook(lambda module, args, output, number=number: seen.append((output, number)))
        for number, place in enumerate(on)
    ]
    for number in removed:
        if number < len(handles):
            handles[number].remove()
    for place, one in enumerate(modules):
        one(place)
    left = [(number, place) for number, place in enumerate(on) if number not in removed]
    assert seen == [(at, number) for at in range(3) for number, place in left if place == at or subject.value]


READINGS = {
    'shared (every torch): A shallow copy and a DataParallel replica have the dict of hooks of their module.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on=[1], removed=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
