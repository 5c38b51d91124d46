"""A pytest plug-in that makes one kind of hook slower, for the trials of the timing: -p suites.selfcheck.slowdown.

The environment variable SLOWDOWN names the kind and the nanoseconds: forward:45.
"""

from __future__ import annotations

import os
import time
from itertools import repeat
from statistics import median
from typing import Any

import pytest

from suites.timing import kinds

CALLS = 2000


def nothing() -> None:
    """Return at once."""


def slowed(hook: Any, count: int) -> Any:
    """Return a hook that does what the other does, after three calls of nothing, or after a loop of so many turns."""
    back = hook is kinds.keep

    def short(*args: Any) -> Any:
        nothing()
        nothing()
        nothing()
        return args[0] if back else None

    def long(*args: Any) -> Any:
        for _ in repeat(None, count):
            pass
        return args[0] if back else None

    return long if count else short


def cost(count: int) -> float:
    """Return the nanoseconds by which a slowed hook takes longer than the plain one."""
    slow = slowed(kinds.observe, count)
    samples = []
    for _ in range(100):
        begin = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            kinds.observe()
        middle = time.perf_counter_ns()
        for _ in repeat(None, CALLS):
            slow()
        end = time.perf_counter_ns()
        samples.append((end - middle - (middle - begin)) / CALLS)
    return median(samples)


def count_for(nanoseconds: float) -> int:
    """Return how many turns take so many nanoseconds; 0 is the shortest slowdown there is."""
    shortest, one, many = cost(0), cost(1), cost(101)
    if nanoseconds < (shortest + one) / 2:
        return 0
    return max(1, 1 + round((nanoseconds - one) / ((many - one) / 100)))


def pytest_configure(config: pytest.Config) -> None:
    name, _, nanoseconds = os.environ["SLOWDOWN"].partition(":")
    count = count_for(float(nanoseconds))
    kinds.KINDS[name] = kinds.KINDS[name]._replace(hook=slowed(kinds.KINDS[name].hook, count))
    kinds.ALL = tuple(kinds.KINDS[kind.name] for kind in kinds.ALL)
