"""handles.handle.ids: Handle ids count up by one over all modules, kinds of hook and tensors; none is given twice.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import copy
import torch
from types import SimpleNamespace


def example(subject, doors, removed):
    one, other, tensor = torch.nn.Identity(), torch.nn.Identity(), torch.ones(1, requires_grad=True)
    ways = (
        one.register_forward_hook,
        one.register_forward_pre_hook,
        other.register_forward_hook,
        other.register_backward_hook,
        tensor.register_hook,
        (2 * tensor).register_hook,
    )
    handles = []
    for door, gone in zip(doors, removed):
        handles.append(ways[door](print))
        if gone:
            handles[-1].remove()
    ids = [handle.id - handles[0].id for handle in handles]
    owners = [(0, 0, 1, 1, 2, 3)[door] for door in doors]
    apart = [owners[:number].count(owner) for number, owner in enumerate(owners)]
    assert ids == (list(range(len(doors))) if subject.value else apart)
    assert handles[0] != copy.copy(handles[0])


READINGS = {
    'one count (every torch): The id of a removed hook is not given again.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), doors=[0, 2], removed=[False, False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
