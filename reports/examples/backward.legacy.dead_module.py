"""backward.legacy.dead_module: A legacy hook does not keep its module alive; backward() through a dead module's hook raises.

Says which reading this torch has.
Checked by suites/backward/test_legacy_calls.py of torch-hook-conformance.
"""

import gc
import torch
import weakref
from types import SimpleNamespace


def example(subject):
    calls = []

    def call():
        module = torch.nn.Linear(2, 2)
        module.register_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
        return module(torch.ones(1, 2)), weakref.ref(module)

    out, module = call()
    gc.collect()
    alive, seen = module() is not None, "called"
    try:
        out.sum().backward()
    except RuntimeError as error:
        seen = type(error).__name__
    assert (alive, seen, len(calls)) == subject.value


READINGS = {
    'RuntimeError (torch >=1.13): A legacy hook holds its module weakly.': (False, 'RuntimeError', 0),
    'kept (torch <1.13): A module with a legacy hook lives as long as its output, and the hook runs.': (True, 'called', 1),
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
