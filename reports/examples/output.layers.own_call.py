"""output.layers.own_call: A class with its own __call__ runs no hooks; a forward that is set on an instance runs with them.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def hook_up(module, pres, ran, name):
    """Have hooks on a module put (name, number) into `ran`; return that in the order in which they are due."""
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append((name, number)))
    return [(name, number) for wanted in (True, False) for number, pre in enumerate(pres) if pre == wanted]


def example(subject, ways, pres, calls):
    class Own(torch.nn.Identity):
        pass

    ran, module = [], Own()
    due = hook_up(module, pres, ran, "h")
    if "call" in ways:
        Own.__call__ = lambda self, x: self.forward(x)
    if "class" in ways:
        Own.forward = lambda self, x: x + "c"
    if "instance" in ways:
        module.forward = lambda x: x + "i"
    expected = "xi" if "instance" in ways else "xc" if "class" in ways else "x"
    assert [module("x") for _ in range(calls)] == [expected] * calls
    assert ran == (due * calls if set(ways) <= set(subject.value) else [])


READINGS = {
    'hooks are in __call__ (every torch): Module.__call__ is what runs them.': ('instance', 'class'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ways=['call'], pres=[False], calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
