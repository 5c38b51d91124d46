"""retain.asked.seen_upstream: When the hook of a tensor runs, gradients kept for tensors made from it are already there.

Says which reading this torch has.
Checked by suites/retain/test_asked.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, kept, hooks):
    seen = []
    row = [1 * leaf(1)]
    for _ in kept[1:]:
        row.append(2 * row[-1])
    for place, (tensor, keep) in enumerate(zip(row, kept)):
        if keep:
            tensor.retain_grad()
            continue
        for _ in range(hooks):
            # Of the tensors that keep nothing .grad is not read: it would warn.
            tensor.register_hook(
                lambda grad, place=place: seen.append((place, [item(t.grad) for t, keep in zip(row, kept) if keep]))
            )
    row[-1].backward()
    last = len(row) - 1
    expected = []
    for place in range(last, -1, -1):
        there = [2.0 ** (last - at) if at > place and subject.value else None for at, keep in enumerate(kept) if keep]
        expected += [(place, there)] * (0 if kept[place] else hooks)
    assert seen == expected


READINGS = {
    'already there (every torch): A hook finds the kept gradients of tensors that the pass went through, none of those ahead.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kept=[False, True], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
