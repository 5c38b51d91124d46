"""gradient.kinds.subclass: A subclass's __torch_function__ sees register_hook, and without it no hook is registered.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch, "overrides"): raise SystemExit("torch " + torch.__version__ + " has no torch.overrides")


def example(subject, hooks, passes_on):
    names = []
    calls = []

    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args = (), kwargs = None):
            name = getattr(func, "__name__", "")
            names.append(name)
            if name == "register_hook" and not passes_on:
                return None
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(()).as_subclass(Traced).requires_grad_()
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: calls.append(number))
    (2 * x).backward()
    registered = [*range(hooks)] if passes_on or not subject.value else []
    assert (names.count("register_hook"), calls) == (hooks if subject.value else 0, registered)


READINGS = {
    'sees it (every torch): register_hook is among the functions that __torch_function__ is given.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, passes_on=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
