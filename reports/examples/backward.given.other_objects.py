"""backward.given.other_objects: With a full hook and an input that needs a gradient, forward and caller are given other tensors.

Says which reading this torch has.
Checked by suites/backward/test_given_entries.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject):
    inside = []

    class Double(torch.nn.Module):
        def forward(self, x):
            y = 2 * x
            inside.append((x, y))
            return y

    module, x = Double(), torch.ones((), requires_grad=True)
    results = []
    for _ in range(2):
        out = module(x)
        results.append((inside[-1][0] is x, inside[-1][1] is out))
        module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    assert results == subject.value


READINGS = {
    'other objects (every torch): Only without a full hook are input and output the same objects to forward and caller.': [(True, True), (False, False)],
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
