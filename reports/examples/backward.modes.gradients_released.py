"""backward.modes.gradients_released: After the hooks ran, nothing keeps the gradients of the output, though the output is kept.

Says which reading this torch has.
Checked by suites/backward/test_modes_kept.py of torch-hook-conformance.
"""

import gc
import torch
import weakref
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject):
    module, seen = torch.nn.Linear(1, 1), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(weakref.ref(outputs[0])))
    out = module(torch.ones(1, requires_grad=True))
    (out * 2).sum().backward()
    gc.collect()
    assert (seen[0]() is not None) == subject.value


READINGS = {
    'released (torch >=1.13): The gradients that a full hook saw are freed after backward().': False,
    'kept (torch <1.13): The grad_output that a full hook saw lives as long as the graph.': True,
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
