"""tutorial.tensor.t01_one_dict: Every hook of a tensor is in its _backward_hooks, which is None before the first one.

Says which reading this torch has.
Checked by suites/tutorial/test_tensor.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    x = torch.tensor(2.0, requires_grad=True)
    before, places = x._backward_hooks, []
    for name in sorted(dir(x)):
        if name.startswith("register_") and name.endswith("hook"):
            handle = getattr(x, name)(lambda grad: None)
            dicts = [place for place in dir(x) if place.endswith("_hooks")]
            places += [place for place in dicts if handle.id in (getattr(x, place) or {})]
    assert (before, places) == subject.value


READINGS = {
    'true (torch <2.1): A tensor has one kind of hook, kept in its _backward_hooks.': (None, ['_backward_hooks']),
    'false (torch >=2.1): Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, not in _backward_hooks.': (None, ['_backward_hooks', '_post_accumulate_grad_hooks']),
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
