"""tutorial.forward.t05_pre_arguments: A forward pre-hook is given two things only: the module and the tuple of inputs.

Says which reading this torch has.
Checked by suites/tutorial/test_pre.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace


def example(subject):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    double, seen = Double(), []
    parameters = inspect.signature(double.register_forward_pre_hook).parameters
    for options in [{}] + [{name: True} for name in parameters if name == "with_kwargs"]:
        double.register_forward_pre_hook(
            lambda *arguments: seen.append(tuple(type(one).__name__ for one in arguments)), **options
        )
    double(torch.tensor(3.0))
    assert seen == subject.value


READINGS = {
    'true (torch <2.0): Every forward pre-hook is given the module and the tuple of inputs.': [('Double', 'tuple')],
    'false (torch >=2.0): A forward pre-hook registered with with_kwargs=True is given the keyword arguments as a third.': [('Double', 'tuple'), ('Double', 'tuple', 'dict')],
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
