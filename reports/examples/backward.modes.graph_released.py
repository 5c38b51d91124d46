"""backward.modes.graph_released: backward(create_graph=True) through a hooked module leaves no graph behind once .grad is cleared.

Says which reading this torch has.
Checked by suites/backward/test_modes_kept.py of torch-hook-conformance.
"""

import gc
import torch
import warnings
import weakref
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


def example(subject):
    marks = []

    class Mark:
        pass

    def run():
        module, x = line([]), torch.tensor(3.0, requires_grad=True)
        y = x * 1
        mark = Mark()
        y.grad_fn.metadata["mark"] = mark
        marks.append(weakref.ref(mark))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (module(y) ** 2).backward(create_graph=True)
        x.grad = module.weight.grad = None

    for _ in range(5):
        run()
    gc.collect()
    assert sum(mark() is not None for mark in marks) == subject.value


READINGS = {
    'released (torch >=1.13): Passes with create_graph through a module with a full hook leave nothing behind.': 0,
    'leaked (torch <1.13): Each backward(create_graph=True) through a module with a full hook leaks its graph.': 5,
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
