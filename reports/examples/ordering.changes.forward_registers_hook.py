"""ordering.changes.forward_registers_hook: A forward hook that forward registers runs in that call only if the module has another hook already.

Says which reading this torch has.
Checked by suites/ordering/test_changes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, pres, adds, calls):
    ran, left = [], list(adds)

    class Late(torch.nn.Module):
        def forward(self, x):
            for _ in range(left.pop(0) if left else 0):
                self.register_forward_hook(lambda *given: ran.append("new"))
            return x

    module, due, new = Late(), [], 0
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append(number))
    for call in range(calls):
        module("x")
        added = adds[call] if call < len(adds) else 0
        seen = subject.value or bool(pres) or new > 0
        due += sorted(range(len(pres)), key=lambda number: not pres[number])
        due += ["new"] * (new + added if seen else new)
        new += added
    assert ran == due


READINGS = {
    'next call (torch >=1.9): A call without hooks looks for none after forward.': False,
    'same call (torch <1.9): The forward hooks are looked up after forward.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), pres=[], adds=[1], calls=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
