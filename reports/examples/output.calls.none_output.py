"""output.calls.none_output: An output that is None reaches every hook as None, until one of them replaces it.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, returned, inside):
    seen, module = [], torch.nn.Identity()
    for value in returned:
        module.register_forward_hook(lambda module, args, output, value=value: seen.append(output) or value)
    out = (torch.nn.Sequential(module) if inside else module)(None)
    given, due = None, []
    for value in returned if subject.value == "as None" else []:
        due.append(given)
        given = given if value is None else value
    assert (seen, out) == (due, given)


READINGS = {
    'as None (every torch): Forward hooks are called with an output of None like with any other.': 'as None',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=['new'], inside=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
