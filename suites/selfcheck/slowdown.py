"""A pytest plug-in that makes one kind of hook slower, for the trials of the timing: -p suites.selfcheck.slowdown.

The environment variable SLOWDOWN names the kind and how many statements are added to it: forward:45; with forward:0 it
stays as it is. They are straight code, which neither calls nor allocates anything, so that they take as long in each
process. What they take is told once, in the shortest pass there is: beside a long one it would drown in its noise.
"""

from __future__ import annotations

import os
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

from suites.timing import kinds
from suites.timing.arms import hooked
from suites.timing.pairs import Turns
from suites.timing.workloads import Pass

#: How many statements are timed, each longer row beside the shorter: the first of a row take longer than the others.
COUNTS = (10, 20, 40, 80, 160, 320, 640, 1280, 2560)
SECONDS = 20.0


def slowed(hook: Any, statements: int) -> Any:
    """Return a hook that does what the other does, after so many statements that do nothing."""
    back = "args[0]" if hook is kinds.keep else "None"
    found: dict[str, Any] = {}
    exec("\n".join(["def slow(*args):", *["    kept = args"] * statements, f"    return {back}"]), found)
    return found["slow"]


@cache
def times() -> list[float]:
    """Return the nanoseconds that each of the counts of statements adds to a pass, measured as hooks are."""
    kind, one = kinds.KINDS["forward"], Pass("empty")
    hooks = [kind.hook, *(slowed(kind.hook, count) for count in COUNTS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        turns = Turns([[hooked(kind, one, hook) for hook in hooks] for _ in range(2)], time.perf_counter)
        turns.run(SECONDS)
    return turns.measured().added


def statements_for(nanoseconds: float) -> int:
    """Return how many statements add so many nanoseconds; beyond the longest row, as many more as it is exceeded."""
    told = times()
    beyond = max(1.0, nanoseconds / told[-1])
    return round(beyond * float(np.interp(nanoseconds, [0.0, *told], [0, *COUNTS])))


def pytest_configure(config: pytest.Config) -> None:
    name, _, statements = os.environ["SLOWDOWN"].partition(":")
    if int(statements):
        kind = kinds.KINDS[name]
        kinds.KINDS[name] = kind._replace(hook=slowed(kind.hook, int(statements)))
        kinds.ALL = tuple(kinds.KINDS[kind.name] for kind in kinds.ALL)
