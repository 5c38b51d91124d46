"""input.returns.in_place: An input that a pre-hook edits in place is edited for later hooks, forward and the caller.

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


def example(subject, shapes, edits):
    made = {"tensor": torch.zeros, "list": lambda _: [0.0], "dict": lambda _: {0: 0.0}}
    xs = tuple(made[shape](1) for shape in shapes)
    module, totals, seen, due = echo(), [0.0] * len(xs), [], []

    def hook(module, args):
        place, by = edits[len(seen)]
        seen.append(([one is x for one, x in zip(args, xs)], [float(one[0]) for one in args]))
        args[place % len(args)][0] += by

    for place, by in edits:
        module.register_forward_pre_hook(hook)
        due.append(([subject.value] * len(xs), list(totals)))
        totals[place % len(xs)] += by
    out = module(*xs)
    assert seen == due
    assert [float(one[0]) for one in out] == [float(x[0]) for x in xs] == totals


READINGS = {
    "the caller's (every torch): A pre-hook is given the caller's object itself, not a copy.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), shapes=['tensor'], edits=[(0, 8)])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
