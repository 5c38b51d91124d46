"""ordering.changes.forward_registers_hook: A forward hook that forward registers runs in that call only if there is one already, even global.

Says which reading this torch has.
Checked by suites/ordering/test_changes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, pres, everywhere, adds, calls):
    from torch.nn.modules import module as of_all

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
    everywhere = everywhere and subject.contract.global_forward_hooks
    handle = of_all.register_module_forward_pre_hook(lambda *given: None) if everywhere else None
    for call in range(calls):
        module("x")
        added = adds[call] if call < len(adds) else 0
        seen = subject.value or bool(pres) or everywhere or new > 0
        due += sorted(range(len(pres)), key=lambda number: not pres[number])
        due += ["new"] * (new + added if seen else new)
        new += added
    if handle:
        handle.remove()
    assert ran == due


READINGS = {
    'next call (torch >=1.9): A forward hook that forward registers where there is none, even global, runs from the next call on.': False,
    'same call (torch <1.9): A forward hook that forward registers runs in that call, whether the module had hooks or not.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded, contract=SimpleNamespace(global_forward_hooks=True if tuple(map(int, torch.__version__.split(".")[:2])) >= (1, 6) else False)), pres=[], everywhere=False, adds=[1], calls=2)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
