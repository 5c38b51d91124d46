"""tutorial.calling.t29_only_call: Hooks belong to the call of a module: module(x) runs them, module.forward(x) runs none.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, kinds, ways):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    double, seen = Double(), []
    for number, kind in enumerate(kinds):
        register = getattr(double, f"register_{kind}_hook")
        register(lambda *arguments, number=number: seen.append(number))
    order = ("forward_pre", "forward", "backward")
    in_order = sorted(range(len(kinds)), key=lambda number: order.index(kinds[number]))
    for way in ways:
        seen.clear()
        (double if way == "module(x)" else double.forward)(torch.tensor(3.0, requires_grad=True)).backward()
        assert seen == (in_order if way in subject.value else [])


READINGS = {
    'true (every torch): Only the call runs hooks.': ('module(x)',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['forward'], ways=['module.forward(x)'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
