"""output.calls.forward_runs_none: Calling module.forward() runs no hook of any kind, however often; calling the module runs them all.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


KINDS = ("forward_pre", "forward", "full_backward_pre", "full_backward")


def example(subject, kinds, ways):
    ran, module = [], torch.nn.Tanh()
    for number, kind in enumerate(kinds):
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append(number))
    due = sorted(range(len(kinds)), key=lambda number: KINDS.index(kinds[number]))
    for way in ways:
        ran.clear()
        (module if way == "call" else module.forward)(torch.ones((), requires_grad=True)).backward()
        assert ran == (due if way in subject.value else [])


READINGS = {
    'none (every torch): Hooks belong to the call of the module.': ('call',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['forward'], ways=['forward'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
