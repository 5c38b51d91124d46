"""gradient.membership.not_inherited: What is derived from a hooked tensor (detach, clone, view) has none of its hooks.

Says which reading this torch has.
Checked by suites/gradient/test_registered.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


DERIVED = {
    "detach": lambda x: x.detach().requires_grad_(),
    "clone": lambda x: x.clone(),
    "view": lambda x: x.view(1),
    "times 1": lambda x: 1 * x,
}


def example(subject, ways, hooks):
    calls = []
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: calls.append(number))
    derived = x
    for way in ways:
        derived = DERIVED[way](derived)
    derived.backward(torch.ones(1, dtype=torch.float64))
    # From the end of the row back to the last detach(), which begins a graph of its own.
    reached = ways[::-1].index("detach") if "detach" in ways else len(ways) + 1
    times = (reached + ("detach" in ways)) if subject.value else int("detach" not in ways)
    assert calls == list(range(hooks)) * times


READINGS = {
    'none (every torch): A tensor that is derived from a hooked one has none of its hooks.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ways=['clone'], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
