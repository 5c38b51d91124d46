"""handles.handle.copies: A handle copied together with its module removes from that copy; copied alone it removes nothing.

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


def example(subject, way, together, hooks, place):
    def copied(value):
        return copy.deepcopy(value) if way == "deepcopy" else pickle.loads(pickle.dumps(value))

    module = torch.nn.Identity()
    handles = [module.register_forward_hook((shout, whisper, shout)[number]) for number in range(hooks)]
    twin, others = copied((module, handles)) if together else (copied(module), copied(handles))
    place = min(place, hooks - 1)
    others[place].remove()
    full = "x" + "!?!"[:hooks]
    less = "x" + "!?!"[:place] + "!?!"[place + 1 : hooks]
    expected = (full, less if together else full) if subject.value else (less, full)
    assert (module("x"), twin("x")) == expected


READINGS = {
    'with its module (every torch): A handle pickled or deep-copied with its module removes its own hook from that copy.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), way='pickle', together=True, hooks=1, place=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
