"""handles.handle.weak: A dropped handle leaves its hook; a kept one holds neither module nor hook, and may outlive both.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import functools
import torch
import weakref
from types import SimpleNamespace


def example(subject, kinds, kept, removed):
    def note(token, number, *given):
        seen.append(number)

    seen, module, token = [], torch.nn.Identity(), torch.nn.Identity()
    handles = [
        getattr(module, f"register_{kind}_hook")(functools.partial(note, token, number))
        for number, kind in enumerate(kinds)
    ]
    handles = [handle if kept[number] else None for number, handle in enumerate(handles)]
    for place in removed:
        if place < len(handles) and handles[place]:
            handles[place].remove()
    module("x")
    left = [number for number in range(len(kinds)) if not (kept[number] and number in removed)]
    if subject.value["dropped"] == "gone":
        left = [number for number in left if kept[number]]
    assert seen == sorted(left, key=lambda number: kinds[number] == "forward")
    alive = [weakref.ref(module), weakref.ref(token)]
    del module, token
    freed = subject.value["hook"] == "freed" or not any(handles)
    assert [one() is None for one in alive] == [True, freed]
    for handle in filter(None, handles):
        handle.remove()


READINGS = {
    'weak (every torch): A handle has a weak reference to the dict of hooks, which the module owns.': {'dropped': 'stays', 'hook': 'freed'},
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['forward', 'forward_pre'], kept=[True, False, True, True], removed=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
