"""tutorial.calling.t31_any_callable: Lambdas, closures, partials and bound methods are all fine as hooks.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import functools
import torch
from types import SimpleNamespace


def example(subject):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Scaler:
        by = 10

        def scale(self, *arguments):
            return arguments[-1] * self.by

    def closure(by):
        return lambda *arguments: arguments[-1] * by

    def scale(by, *arguments):
        return arguments[-1] * by

    def gradient(function):
        weight = torch.tensor(1.0, requires_grad=True)
        weight.register_hook(function)
        (weight * 2).backward()
        return weight.grad.item()

    ten = {
        "lambda": lambda *arguments: arguments[-1] * 10,
        "closure": closure(10),
        "partial": functools.partial(scale, 10),
        "bound method": Scaler().scale,
    }
    results = {}
    for name, function in ten.items():
        double = Double()
        double.register_forward_hook(function)
        results[name] = [double(torch.tensor(3.0)).item(), gradient(function)]
        try:
            gradient(lambda grad: grad * 3)
            results[name].append("fine")
        except (AttributeError, RuntimeError, SystemError):
            results[name].append("raises")
    assert results == subject.value


READINGS = {
    'true (torch >=1.6): Lambdas, closures, partials and bound methods are called as hooks of modules and of tensors.': {'lambda': [60.0, 20.0, 'fine'], 'closure': [60.0, 20.0, 'fine'], 'partial': [60.0, 20.0, 'fine'], 'bound method': [60.0, 20.0, 'fine']},
    'false (torch <1.6): After a tensor hook without __name__, such as a partial, replaced a gradient, the next backward raises.': {'lambda': [60.0, 20.0, 'fine'], 'closure': [60.0, 20.0, 'fine'], 'partial': [60.0, 20.0, 'raises'], 'bound method': [60.0, 20.0, 'fine']},
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
