"""tutorial.tensor.t27_known_to_the_node: A hook put on an intermediate tensor is known to the backward node of that tensor.

Says which reading this torch has.
Checked by suites/tutorial/test_tensor.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, row, deleted):
    seen = []
    y = leaf(2) * 3
    # A row of hooks and of edits in place, by their factors.
    for place, what in enumerate(row):
        if what == "hook":
            y.register_hook(lambda grad, place=place: seen.append((place, grad.item())))
        else:
            y.mul_(what)
    z = y * 7
    if deleted:
        del y
    z.backward()
    places = [place for place, what in enumerate(row) if what == "hook"]
    expected = {}
    for place in places:
        node = place if subject.value == "node" else places[0]
        expected[place] = 7 * prod(by for by in row[node:] if by != "hook")
    assert dict(seen) == ({} if deleted and subject.value == "object" else expected)
    assert len(seen) == len(dict(seen))


READINGS = {
    'true (torch >=2.0): A hook is put on the node that the tensor has then, also after an edit in place.': 'node',
    'false (torch <2.0): A tensor that had a hook before an edit in place puts new hooks on its old node.': 'first node',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), row=['hook', 5, 'hook'], deleted=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
