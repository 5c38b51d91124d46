"""output.layers.containers: A loop over a ModuleList or ModuleDict runs only the children's hooks, Sequential its own too.

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


def example(subject, kind, size, own, inner):
    class Holder(torch.nn.Module):
        def __init__(self, held):
            super().__init__()
            self.held = held

        def forward(self, x):
            if kind == "Sequential":
                return self.held(x)
            for child in self.held.values() if kind == "ModuleDict" else self.held:
                x = child(x)
            return x

    children, ran, due = [torch.nn.Identity() for _ in range(size)], [], []
    for number, child in enumerate(children):
        due += hook_up(child, inner, ran, number)
    named = {str(number): child for number, child in enumerate(children)}
    held = (
        torch.nn.Sequential(*children)
        if kind == "Sequential"
        else getattr(torch.nn, kind)(named if kind == "ModuleDict" else children)
    )
    around = hook_up(held, own, ran, "container")
    Holder(held)("x")
    if kind in subject.value:
        due = around[: sum(own)] + due + around[sum(own) :]
    assert ran == due


READINGS = {
    'called or not (every torch): ModuleList and ModuleDict are not called when their elements are; Sequential is.': ('Sequential',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind='ModuleList', size=1, own=[False], inner=[False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
