"""output.calls.same_object: Without backward hooks nothing is copied: hooks and caller are given the very objects returned.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from collections import namedtuple
from types import SimpleNamespace


Pair = namedtuple("Pair", "first second")


def example(subject, shapes, replace):
    def make(shape):
        one = torch.ones(1)
        made = {"tensor": one, "tuple": (one,), "list": [one], "dict": {"y": one}, "pair": Pair(one, 2)}
        made.update({"text": "y", "object": object()})
        return {**made, "nested": ([one], {"y": (one,)}), "generator": iter([one])}[shape]

    module, given, made = torch.nn.Identity(), [], []

    def hook(module, args, output):
        given.append(output)
        made.append(make(shapes[len(made) % len(shapes)]) if replace[len(made)] else None)
        return made[-1]

    for _ in replace:
        module.register_forward_hook(hook)
    due = make(shapes[0])
    given.append(module(due))
    for replacement, output in zip([None, *made], given):
        due = due if replacement is None else replacement
        assert (output is due) == subject.value


READINGS = {
    'itself (every torch): Without backward hooks no output is copied or rebuilt.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shapes=['list'], replace=[False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
