"""gradient.lifetime.handle: register_hook takes the hook as hook= and returns a RemovableHandle with a number of its own.

Says which reading this torch has.
Checked by suites/gradient/test_handles.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, on, removed):
    import pickle

    x = leaf(1)
    tensors = [x, 2 * x, leaf(3)]
    seen = []
    handles = []
    for place in on:
        handles.append(tensors[place].register_hook(hook=seen.append))
        if removed is not None and removed < len(handles):
            # That an id is free again changes nothing.
            handles[removed].remove()
    ids = [handle.id for handle in handles]
    assert all(type(handle) is torch.utils.hooks.RemovableHandle for handle in handles)
    per_tensor = [on[:number].count(at) for number, at in enumerate(on)]
    assert len(set(ids)) == len(set(range(len(on)) if subject.value else per_tensor))
    # With the handle pickle stores the hooks that are left on its tensor: none, then.
    for handle in handles:
        handle.remove()
    assert [pickle.loads(pickle.dumps(handle)).id for handle in handles] == [handle.id for handle in handles]


READINGS = {
    'a handle (every torch): No two handles have the same number; a pickled handle keeps its own.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on=[0, 1], removed=None)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
