"""handles.handle.copies: A handle copied with its module works on the copied module; one copied alone works on nothing.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import copy
import pickle
import torch
from types import SimpleNamespace


def shout(module, args, output):
    """A hook that pickle finds by its name."""
    return output + "!"


def whisper(module, args, output):
    """Another one."""
    return output + "?"


def example(subject, way, hooks, place):
    def through_pickle(value):
        return pickle.loads(pickle.dumps(value))

    module = torch.nn.Identity()
    handles = [module.register_forward_hook((shout, whisper, shout)[number]) for number in range(hooks)]
    if way == "apart":
        twin, others = through_pickle(module), through_pickle(handles)
    else:
        twin, others = (through_pickle if way == "pickle" else copy.deepcopy)((module, handles))
    place = min(place, hooks - 1)
    others[place].remove()
    full = "x" + "!?!"[:hooks]
    less = "x" + "!?!"[:place] + "!?!"[place + 1 : hooks]
    expected = (full, full if way == "apart" else less) if subject.value else (less, full)
    assert (module("x"), twin("x")) == expected


READINGS = {
    'with its module (every torch): By pickle and by deepcopy; of several hooks it removes its own.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), way='pickle', hooks=1, place=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
