"""handles.copies.what_is_copied: Deep-copied forward hooks: a function stays the same, a bound method, partial or object is copied.

Says which reading this torch has.
Checked by suites/handles/test_copies.py of torch-hook-conformance.
"""

import copy
import functools
import torch
from types import SimpleNamespace


def example(subject, names, copies):
    seen = []

    class Keeps(torch.nn.Identity):
        def hook(self, module, args, output):
            seen.append("copy" if self is module else "original")

    class Object:
        def __init__(self, module):
            self.module = module

        def __call__(self, module, args, output):
            seen.append("copy" if self.module is module else "original")

    module = Keeps()
    hooks = {
        "closure": lambda given, args, output: seen.append("copy" if module is given else "original"),
        "bound method": module.hook,
        "partial": functools.partial(Keeps.hook, module),
        "object": Object(module),
    }
    for name in names:
        module.register_forward_hook(hooks[name])
    copied = module
    for _ in range(copies):
        copied = copy.deepcopy(copied)
    copied("x")
    assert seen == [subject.value[name] for name in names]


READINGS = {
    "as deepcopy does (every torch): In a deep copy, what the function of a hook closes over is still the original's.": {'closure': 'original', 'bound method': 'copy', 'partial': 'copy', 'object': 'copy'},
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), names=['closure', 'bound method', 'partial', 'object'], copies=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
