"""tutorial.forward.t13_output_in_place: A forward hook that edits the output in place and returns nothing changes the result as well.

Says which reading this torch has.
Checked by suites/tutorial/test_forward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, x, added):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def edit(module, inputs, output):
        seen.append(output.item())
        output.add_(added[len(seen) - 1])

    double, seen = Double(), []
    for _ in added:
        double.register_forward_hook(edit)
    seen.append(double(torch.tensor(float(x))).item())
    assert seen == [2 * x + (sum(added[:number]) if subject.value else 0) for number in range(len(added) + 1)]


READINGS = {
    'true (every torch): The next hook and the caller get the output as edited in place.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=3, added=[5])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
