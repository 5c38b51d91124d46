"""A pytest plug-in that makes one kind of hook slower, for the trials of the timing: -p suites.selfcheck.slowdown.

The environment variable SLOWDOWN names the kind and the nanoseconds: forward:45. With forward:0 it does all that it
does else, and slows nothing down: what runs before a measurement can move figures too.
"""

from __future__ import annotations

import os
import time
import warnings
from itertools import repeat
from typing import Any

import pytest

from suites.timing import kinds
from suites.timing.arms import hooked
from suites.timing.pairs import Turns
from suites.timing.workloads import Pass

SECONDS = 0.3


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


def cost(kind: kinds.Kind, count: int) -> float:
    """Return the nanoseconds by which a slowed hook makes a pass longer, measured as the hooks themselves are."""
    one = Pass("empty")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        turns = Turns([[hooked(kind, one, kind.hook), hooked(kind, one, slowed(kind.hook, count))]], time.perf_counter)
        turns.run(SECONDS)
    return turns.measured().added[0]


def count_for(kind: kinds.Kind, nanoseconds: float) -> int:
    """Return how many turns take so many nanoseconds; 0 is the shortest slowdown there is."""
    shortest, one, many = (cost(kind, count) for count in (0, 1, 101))
    if nanoseconds < (shortest + one) / 2:
        return 0
    return max(1, 1 + round((nanoseconds - one) / ((many - one) / 100)))


def pytest_configure(config: pytest.Config) -> None:
    name, _, nanoseconds = os.environ["SLOWDOWN"].partition(":")
    kind = kinds.KINDS[name]
    hook = slowed(kind.hook, count_for(kind, float(nanoseconds)))
    kinds.KINDS[name] = kind._replace(hook=hook if float(nanoseconds) else kind.hook)
    kinds.ALL = tuple(kinds.KINDS[kind.name] for kind in kinds.ALL)
