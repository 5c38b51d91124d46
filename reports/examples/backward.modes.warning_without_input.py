"""backward.modes.warning_without_input: Full hooks that run although no input needs a gradient give one UserWarning in each backward.

Says which reading this torch has.
Checked by suites/backward/test_modes_kept.py of torch-hook-conformance.
"""

import torch
import warnings
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def show(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def line(calls, kind = "full_backward", weight = 2, hooks = 1):
    """The hooked module x -> weight * x; its hooks put what they are given into `calls`."""
    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(float(weight)))

        def forward(self, x):
            return self.weight * x

    module = Line()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module


def warned(kind, hooks, passes):
    """Categories of the warnings in each backward through a hooked module, whose input needs a gradient or not."""
    module, seen = line([], kind, hooks=hooks), []
    for needs_grad in passes:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(torch.tensor(3.0, requires_grad=needs_grad)).backward()
        seen.append([one.category.__name__ for one in caught])
    return seen


def example(subject, hooks, passes):
    assert warned("full_backward", hooks, passes) == [[] if needs_grad else subject.value for needs_grad in passes]


READINGS = {
    'warned (torch >=2.8): There is one warning for each pass, however many full hooks run.': ['UserWarning'],
    'in silence (torch <2.8): Where no input needs a gradient, full hooks give no warning.': [],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1, passes=[False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
