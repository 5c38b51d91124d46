"""tutorial.forward.t03_inputs_come_too_late: Changing the inputs inside a forward hook never changes the result: forward has used them already.

Says which reading this torch has.
Checked by suites/tutorial/test_forward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, x, same, edits):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x if same else x * 2

    def edit_of(by):
        def rebind(module, inputs, output):
            inputs = (inputs[0] + 5,)

        def edit(module, inputs, output):
            inputs[0].add_(by)

        return rebind if by is None else edit

    double = Double()
    for by in edits:
        double.register_forward_hook(edit_of(by))
    added = sum(by for by in edits if by is not None)
    result = x + (added if subject.value else 0) if same else 2 * x
    given_to_double = torch.tensor(float(x))
    assert (double(given_to_double).item(), given_to_double.item()) == (result, x + added)


READINGS = {
    'false (every torch): Where the output is the input itself, editing the input in place in a forward hook edits both.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), x=3, same=True, edits=[5])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
