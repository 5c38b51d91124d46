"""input.returns.only_tuples_are_spread: Of what a plain pre-hook returns only a tuple is spread; a list or a dict is one argument.

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
        due.append(tuple(value) if isinstance(value, subject.value) else (value,))
    seen.append(module("x"))
    assert [type(args) for args in seen] == [tuple] * len(due)
    assert [len(args) for args in seen] == [len(args) for args in due]
    assert all(one is other for args, wanted in zip(seen, due) for one, other in zip(args, wanted))


READINGS = {
    'tuples (every torch): A tuple of any length is spread; to pass one tuple a plain pre-hook returns it in a tuple.': (tuple,),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=[[1, 2]])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
