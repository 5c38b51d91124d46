"""handles.copies.unpickled_id: Loading a pickled module reserves no ids: a later registration may replace a loaded hook.

Says which reading this torch has.
Checked by suites/handles/test_pickled.py of torch-hook-conformance.
"""

import pickle
import torch
from types import SimpleNamespace


def double(module, args, output):
    """A hook that pickle finds by its name."""
    return output * 2


def example(subject):
    from torch.utils.hooks import RemovableHandle

    module = torch.nn.Identity()
    stored = module.register_forward_hook(double).id
    there, count = pickle.loads(pickle.dumps(module)), RemovableHandle.next_id
    RemovableHandle.next_id = stored
    try:
        there.register_forward_hook(
            lambda module, args, output: (output + " new").replace("x new", "new", output == "x")
        )
    finally:
        RemovableHandle.next_id = count
    assert there("x") == subject.value


READINGS = {
    'takes its place (every torch): A new hook that gets the id of a loaded one replaces it.': 'new',
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
