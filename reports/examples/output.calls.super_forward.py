"""output.calls.super_forward: super().forward() inside forward does not run the hooks again, however many classes pass it on.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, depth, pres, calls):
    def derived(base):
        class Wrapped(base):
            def forward(self, x):
                return super().forward(x)

        return Wrapped

    kind = torch.nn.Identity
    for _ in range(depth):
        kind = derived(kind)
    ran, module = [], kind()
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append(number))
    due = sorted(range(len(pres)), key=lambda number: not pres[number])
    for _ in range(calls):
        module("x")
    assert ran == due * calls * (depth + 1 if subject.value else 1)


READINGS = {
    'once (every torch): One call of a module runs its hooks once, whatever forward passes on to.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), depth=1, pres=[False], calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
