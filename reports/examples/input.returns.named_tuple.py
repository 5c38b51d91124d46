"""input.returns.named_tuple: A tuple of any class is spread as a tuple is, and the next pre-hook is given it as it is.

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
    'a tuple (every torch): Every subclass of tuple is one.': (tuple, Pair, Row),
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
