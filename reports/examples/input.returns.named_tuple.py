"""input.returns.named_tuple: A tuple of any class that a plain pre-hook returns is spread; the next hook is given it itself.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from collections import namedtuple
from types import SimpleNamespace


def echo():
    """A module that returns the tuple of its arguments."""
    class Echo(torch.nn.Module):
        def forward(self, *args):
            return args

    return Echo()


Pair = namedtuple("Pair", "x y")


class Row(tuple):
    """A tuple of any length, of another class."""


def example(subject, kinds, values):
    module, seen, due = echo(), [], [("x",)]
    for kind in kinds:
        made = {"Pair": Pair(*values), "Row": Row(values), "tuple": tuple(values)}[kind]
        module.register_forward_pre_hook(lambda module, args, made=made: seen.append(args) or made)
        due.append(made if type(made) in subject.value else (made,))
    out = module("x")
    assert (seen, [type(args) for args in seen]) == (due[:-1], [type(args) for args in due[:-1]])
    assert out == tuple(due[-1])


READINGS = {
    'a tuple (every torch): An instance of a subclass of tuple that a plain pre-hook returns is spread like a tuple.': (tuple, Pair, Row),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['Pair'], values=[1, 2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
