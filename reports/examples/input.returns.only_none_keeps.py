"""input.returns.only_none_keeps: Only None keeps the input: 0, False, '' or [] that a plain pre-hook returns replaces it.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def echo():
    """A module that returns the tuple of its arguments."""
    class Echo(torch.nn.Module):
        def forward(self, *args):
            return args

    return Echo()


def example(subject, returned):
    module, seen, due = echo(), [], [("x",)]
    for value in returned:
        module.register_forward_pre_hook(lambda module, args, value=value: seen.append(args) or value)
        given_next = value if isinstance(value, tuple) else (value,)
        due.append(due[-1] if subject.value(value) else given_next)
    seen.append(module("x"))
    # By repr, for which 0, 0.0 and False differ.
    assert repr(seen) == repr(due)


READINGS = {
    "replace (every torch): 0, False, '' and [] that a plain pre-hook returns are inputs like any other.": lambda given: given is None,
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
