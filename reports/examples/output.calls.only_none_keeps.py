"""output.calls.only_none_keeps: Only None keeps the output: whatever else a hook returns, false or not, is the output as it is.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, returned):
    seen, module = [], torch.nn.Identity()

    def hook(module, args, output):
        seen.append(output)
        return returned[len(seen) - 1]

    for _ in returned:
        module.register_forward_hook(hook)
    output = due = "x"
    seen.append(module(due))
    for value, output in zip(returned, seen):
        assert output is due
        due = due if subject.value(value) else value
    assert seen[-1] is due


READINGS = {
    "replace (every torch): 0, False, '' and () that a forward hook returns are outputs like any other.": lambda given: given is None,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=[0])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
