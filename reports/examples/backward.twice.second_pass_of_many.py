"""backward.twice.second_pass_of_many: In the second pass a full hook runs only where its output gets a second-order gradient.

Says which reading this torch has.
Checked by suites/backward/test_twice.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def value(number):
    """A float64 scalar that requires grad: small integers stay exact."""
    return torch.tensor(float(number), dtype=torch.float64, requires_grad=True)


def cube():
    """A module x -> x ** 3."""
    class Cube(torch.nn.Module):
        def forward(self, x):
            return x**3

    return Cube()


def line():
    """A module x -> 2 * x that keeps its product, from before the output was wrapped, as `inner`."""
    class Line(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0, dtype=torch.float64))

        def forward(self, x):
            self.inner = self.weight * x
            return self.inner

    return Line()


def example(subject, curved, number):
    net, calls = torch.nn.Sequential(*(cube() if one else line() for one in curved)), []
    for index, module in enumerate(net):
        module.register_full_backward_hook(lambda *given, index=index: calls.append(index))
    x = value(number)
    (grad,) = torch.autograd.grad(net(x), x, create_graph=True)
    first = calls[:]
    grad.backward()
    last = max(index for index, one in enumerate(curved) if one)
    assert first == [*reversed(range(len(curved)))]
    assert calls[len(first) :] == [*reversed(range(last + subject.value))]
    # The composition is factor * x ** power, up to the sign of x.
    power, factor = 1, 1
    for one in curved:
        power, factor = (3 * power, factor**3) if one else (power, 2 * factor)
    assert x.grad.item() == factor * power * (power - 1) * number**power


READINGS = {
    'below the curve (torch >=1.13): In the second pass full hooks run below the last curved module, and not on it.': 0,
    'the curve too (torch <1.13): In the second pass the full hook of the last curved module runs as well.': 1,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), curved=[False, True, False], number=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
