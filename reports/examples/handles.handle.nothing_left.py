"""handles.handle.nothing_left: Removing a hook around forward removes its entries from all dicts of the module, options included.

Says which reading this torch has.
Checked by suites/handles/test_modules.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(with_kwargs)")


def example(subject, hooks, removed):
    module, handles, options = torch.nn.Identity(), [], []
    for kind, prepend, with_kwargs, always_call in hooks:
        flags = {"with_kwargs"} if with_kwargs else set()
        if always_call and kind == "forward" and subject.contract.always_call:
            flags.add("always_call")
        register = getattr(module, f"register_{kind}_hook")
        handles.append(register(print, prepend=prepend, **dict.fromkeys(flags, True)))
        options.append(flags)
    for place in removed:
        if place < len(handles):
            handles[place].remove()
    expected = {}
    for place, (handle, hook) in enumerate(zip(handles, hooks)):
        store, prepend = f"_{hook[0]}_hooks", hook[1]
        if place not in removed:
            order = expected.setdefault(store, [])
            order.insert(0 if prepend else len(order), handle.id)
        if place not in removed or not subject.value:
            for flag in options[place]:
                name = {"with_kwargs": "_with_kwargs", "always_call": "_always_called"}[flag]
                expected.setdefault(store + name, []).append(handle.id)
    assert {name: list(ids) for name, ids in vars(module).items() if "_hooks" in name and ids} == expected


READINGS = {
    "nothing (every torch): A module's dicts of hooks and options have the ids of those left, and no others.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded, contract=SimpleNamespace(always_call=True if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 1) else False)), hooks=[('forward', True, True, True)], removed=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
