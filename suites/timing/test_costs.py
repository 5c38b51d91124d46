"""What a hook costs, in this process: one comparison per test. `python -m suites.timing` runs many processes."""

import sys
from functools import partial
from multiprocessing import get_context
from typing import Any, Callable

import pytest

from fixtures.modes import missing
from suites.timing import arms
from suites.timing.kinds import ALL, COUNTED, KINDS, REGISTERED, Kind
from suites.timing.notes import Notes

PLAIN_CALL = Kind("plain_call", "plain Python call", "nothing")
COUNTS = [1, 2, 4, 8, 16]
CALLS = [
    pytest.param(kind, workload, id=f"{kind.name}-{workload}", marks=pytest.mark.time(*arms.time_of(kind, workload)))
    for kind in ALL
    for workload in arms.TIMES
]
SAMES = [
    pytest.param(work, workload, id=f"{work}-{workload}", marks=pytest.mark.time(*time))
    for work, workload, time in arms.SAMES
]
MODULES = [
    pytest.param("forward", marks=pytest.mark.time(*arms.Time(6.0, 2, groups=2))),
    pytest.param("full_backward", marks=pytest.mark.time(*arms.Time(12.0, 2, groups=2))),
]


def test_memory(notes: Notes) -> None:
    """What a full backward hook keeps in memory from the forward to the backward."""
    kind = KINDS["full_backward"]
    absent = missing(kind.needs) or ([] if sys.platform.startswith("linux") else ["/proc/self/statm"])
    if absent:
        notes.row("memory", kind, "empty", work="hold", unit="bytes", absent=absent)
        return
    with get_context("fork").Pool(1) as child:  # so that the heap of all that follows stays as it is
        found = child.apply(arms.memory, (kind.name,))
    notes.row("memory", kind, "empty", work="hold", unit="bytes", control=found.control, added=found.added)


@pytest.mark.time(*arms.TIMES["empty"])
def test_floor(measure: Callable[..., Any]) -> None:
    """One plain call of the hook function."""
    measure("floor", PLAIN_CALL, "empty", arms.floor, fires=lambda: 1)


@pytest.mark.parametrize(("work", "workload"), SAMES)
def test_same(work: str, workload: str, measure: Callable[..., Any]) -> None:
    """The work beside itself: what is seen where there is nothing to see."""
    measure("same", Kind(work, "nothing", work), workload, partial(arms.same, work, workload), hooks=[0])


@pytest.mark.parametrize(("kind", "workload"), CALLS)
def test_call(kind: Kind, workload: str, measure: Callable[..., Any], called: Callable[..., int]) -> None:
    """One hook on one module, tensor or node."""
    build = partial(arms.by_count, kind, workload)
    measure("call", kind, workload, build, fires=partial(called, kind, workload))


@pytest.mark.time(3.0, 3)
@pytest.mark.parametrize("name", COUNTED)
def test_count(name: str, measure: Callable[..., Any], called: Callable[..., int]) -> None:
    """Up to sixteen hooks of one kind on the empty module."""
    kind = KINDS[name]
    build = partial(arms.by_count, kind, "empty", COUNTS)
    measure("count", kind, "empty", build, hooks=COUNTS, fires=partial(called, kind, "empty"))


@pytest.mark.parametrize("name", MODULES)
def test_each_module(name: str, measure: Callable[..., Any], called: Callable[..., int]) -> None:
    """A hook on each module of a transformer encoder of twelve layers."""
    kind = KINDS[name]
    build = partial(arms.on_each_module, kind, "encoder")
    measure("modules", kind, "encoder", build, fires=partial(called, kind, "encoder", each=True))


@pytest.mark.time(0.5, 1)
@pytest.mark.parametrize("name", REGISTERED)
def test_register(name: str, measure: Callable[..., Any]) -> None:
    """Registering a hook and removing it."""
    kind = KINDS[name]
    measure("register", kind, "empty", partial(arms.registering, kind), work="nothing")
