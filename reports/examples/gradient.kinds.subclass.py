"""gradient.kinds.subclass: register_hook on a subclass that defines __torch_function__ goes through it.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch, "overrides"): raise SystemExit("torch " + torch.__version__ + " has no torch.overrides")


def example(subject):
    names = []

    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args = (), kwargs = None):
            names.append(getattr(func, "__name__", ""))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(()).as_subclass(Traced).requires_grad_()
    x.register_hook(lambda grad: None)
    assert ("register_hook" in names) == subject.value


READINGS = {
    'goes through it (torch >=1.7): register_hook is among the functions seen.': True,
    'does not (torch <1.7): Methods were not overridable.': False,
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
