"""Count on a torch whose dispatch of hooks is slower: python -m suites.selfcheck.costs.slow_torch COUNTS KINDS.

The environment variable SLOWED says where, and how many statements are added to each call of a hook: `forward=12` or
`full_backward=80`, with a comma between. They are put into torch's own source, in memory, where it calls the hook.
"""

from __future__ import annotations

import inspect
import os
import sys
import textwrap

import torch
from torch.nn import Module
from torch.utils.hooks import BackwardHook

from suites.timing import count

#: Where the statements go: the class, its function, the line before them, and one of the statements.
PLACES = {
    "forward": (Module, "_call_impl", "hook_result = hook(self, args, result)", "hook_id is None"),
    "full_backward": (BackwardHook, "_set_user_hook", "out = hook(self.module, res, self.grad_outputs)", "len(res)"),
}


def slow(kind: str, statements: int) -> None:
    """Add so many statements to where torch calls a hook of this kind. Raises ValueError where there is none."""
    owner, name, line, statement = PLACES[kind]
    function = getattr(owner, name)
    source = textwrap.dedent(inspect.getsource(function))
    if line not in source:
        raise ValueError(f"{name} of torch {torch.__version__} has no line {line!r}")
    source = source.replace(line, "; ".join([line, *[statement] * statements]))
    found: dict[str, object] = {}
    exec(compile(source, inspect.getfile(function), "exec"), function.__globals__, found)
    setattr(owner, name, found[name])


if __name__ == "__main__":
    for each in filter(None, os.environ.get("SLOWED", "").split(",")):
        kind, _, statements = each.partition("=")
        slow(kind, int(statements))
    count.main(*sys.argv[1:])
