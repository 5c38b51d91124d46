"""output.calls.edited_in_place: An edit of the output in place by a hook that returns None is seen by later hooks and the caller.

Says which reading this torch has.
Checked by suites/output/test_edits.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, shape, added):
    module, seen = torch.nn.Identity(), []
    made = {"tensor": torch.zeros(()), "list": [], "dict": {}, "tensor in tuple": (torch.zeros(()),)}[shape]

    def total(output):
        if shape in ("tensor", "tensor in tuple"):
            return (output if shape == "tensor" else output[0]).item()
        return sum(output if shape == "list" else output.values())

    def edit(output, by):
        if shape in ("tensor", "tensor in tuple"):
            (output if shape == "tensor" else output[0]).add_(by)
        elif shape == "list":
            output.append(by)
        else:
            output[len(output)] = by

    for by in added:
        module.register_forward_hook(lambda module, args, output, by=by: seen.append(total(output)) or edit(output, by))
    seen.append(total(module(made)))
    assert seen == [sum(added[:number]) if subject.value else 0 for number in range(len(added) + 1)]


READINGS = {
    'seen (every torch): Every forward hook is given the output itself, not a copy.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shape='list', added=[9])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
