"""handles.handle.nothing_left: Removing its hooks leaves the dicts of a module as they were, those of the options included.

Says which reading this torch has.
Checked by suites/handles/test_modules.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(with_kwargs)")


def example(subject, hooks, removed):
    module = torch.nn.Identity()
    handles = [
        getattr(module, f"register_{kind}_hook")(print, prepend=prepend, with_kwargs=with_kwargs)
        for kind, prepend, with_kwargs in hooks
    ]
    for place in removed:
        if place < len(handles):
            handles[place].remove()
    expected = {}
    for place, (handle, (kind, prepend, with_kwargs)) in enumerate(zip(handles, hooks)):
        if place not in removed:
            order = expected.setdefault(f"_{kind}_hooks", [])
            order.insert(0 if prepend else len(order), handle.id)
        if with_kwargs and (place not in removed or not subject.value):
            expected.setdefault(f"_{kind}_hooks_with_kwargs", []).append(handle.id)
    assert {
        name: list(ids) for name, ids in vars(module).items() if name.endswith(("hooks", "kwargs")) and ids
    } == expected


READINGS = {
    'nothing (every torch): Each dict has the ids of the hooks that are left, and no other.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('forward', True, True)], removed=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
