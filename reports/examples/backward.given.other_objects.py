"""backward.given.other_objects: Under a full hook forward is given another tensor than the caller passed, and so is the caller.

Says which reading this torch has.
Checked by suites/backward/test_given.py of torch-hook-conformance.
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
    'other objects (every torch): Same input and output object without a hook, others with one.': [(True, True), (False, False)],
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
