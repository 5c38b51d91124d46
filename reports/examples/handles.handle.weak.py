"""handles.handle.weak: A handle may be dropped, and the hook stays; it keeps no module alive, and may outlive it.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import gc
import torch
import weakref
from types import SimpleNamespace


def example(subject):
    seen, module = [], torch.nn.Identity()
    handle = module.register_forward_pre_hook(print)
    handle.remove()
    module.register_forward_hook(lambda module, args, output: seen.append(output))
    gc.collect()
    module("x")
    alive = weakref.ref(module)
    del module
    gc.collect()
    assert (seen, alive() is None, handle.remove()) == subject.value


READINGS = {
    'weak (every torch): It knows the dict of the hooks through a weak reference.': (['x'], True, None),
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
