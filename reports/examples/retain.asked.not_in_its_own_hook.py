"""retain.asked.not_in_its_own_hook: While the hooks of a tensor run, the gradient of this pass is not yet in the .grad it keeps.

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
    'not yet (torch >=2.0): Hooks of a tensor that keeps its gradient find in .grad what earlier passes left.': 'none',
    "by what came first (torch >=1.10,<2.0): The hooks of a tensor find this pass's gradient in .grad if retain_grad() came before all of them.": 'all or none',
    "later hooks find it (torch <1.10): Hooks of a tensor registered after retain_grad() find this pass's gradient in .grad.": 'later ones',
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
