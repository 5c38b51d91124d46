"""retain.asked.not_in_its_own_hook: While the hooks of a tensor run, its kept gradient is not there yet.

Says which reading this torch has.
Checked by suites/retain/test_asked.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


FINDS = {
    "none": lambda index, place: False,
    "all or none": lambda index, place: place == 0,
    "later ones": lambda index, place: index >= place,
}


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, piles, passes):
    for hooks, place in piles:
        seen = []
        y = 3 * leaf(1)
        for index in range(hooks):
            if index == place:
                y.retain_grad()
            y.register_hook(lambda grad, y=y, seen=seen: seen.append(item(y.grad)))
        place = min(place, hooks)
        if place == hooks:
            y.retain_grad()
        for _ in range(passes):
            (2 * y).backward(retain_graph=True)
        totals = [None, *(2 * number for number in range(1, passes + 1))]
        finds = FINDS[subject.value]
        assert seen == [totals[number + finds(at, place)] for number in range(passes) for at in range(hooks)]


READINGS = {
    'not yet (torch >=2.0): What earlier passes left, whichever was registered first.': 'none',
    'all or none (torch >=1.10,<2.0): There if retain_grad() came before every hook.': 'all or none',
    'in its turn (torch <1.10): There for the hooks that came after retain_grad().': 'later ones',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), piles=[(2, 1), (1, 0)], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
