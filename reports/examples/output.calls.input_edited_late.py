"""output.calls.input_edited_late: An in-place edit of the input in a forward hook changes the output only if they share memory.

Says which reading this torch has.
Checked by suites/output/test_edits.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, does, added):
    class Does(torch.nn.Module):
        def forward(self, x):
            return {"product": x * 2, "copy": x.clone(), "same": x, "view": x.view(1, 1)[0]}[does]

    module, seen = Does(), []

    def hook(module, args, output):
        seen.append((args[0].item(), output.item()))
        args[0].add_(added[len(seen) - 1])

    for _ in added:
        module.register_forward_hook(hook)
    x = torch.ones(1)
    seen.append((module(x).item(), x.item()))
    edited = [1 + sum(added[:number]) for number in range(len(added) + 1)]
    kept = edited if does in subject.value else [2 if does == "product" else 1] * len(edited)
    assert seen == list(zip(edited[:-1], kept)) + [(kept[-1], edited[-1])]


READINGS = {
    'late (every torch): After an edit of the input what forward computed stays; an alias of the input changes.': ('same', 'view'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), does='same', added=[8])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
