"""What a hook costs, in this process: one comparison per test. `python -m suites.timing` runs many processes."""

import sys
from functools import partial
from typing import Any, Callable

import pytest

from fixtures.modes import missing
from suites.timing import arms
from suites.timing.kinds import ALL, COUNTED, KINDS, REGISTERED, Kind
from suites.timing.notes import Notes

PLAIN_CALL = Kind("plain_call", "plain Python call", "nothing")
COUNTS = [1, 2, 4, 8, 16]
CALLS = [
    pytest.param(kind, workload, id=f"{kind.name}-{workload}", marks=pytest.mark.weight(weight))
    for kind in ALL
    for workload, weight in arms.WEIGHTS.items()
]
SAMES = [
    pytest.param(work, workload, id=f"{work}-{workload}", marks=pytest.mark.weight(weight))
    for work, workload, weight in arms.SAMES
]


def test_memory(notes: Notes) -> None:
    """What a full backward hook keeps in memory from the forward to the backward."""
    kind = KINDS["full_backward"]
    absent = missing(kind.needs) or ([] if sys.platform.startswith("linux") else ["/proc/self/statm"])
    if absent:
        notes.row("memory", kind, "empty", work="hold", unit="bytes", absent=absent)
        return
    found = arms.memory(kind.name)
    notes.row("memory", kind, "empty", work="hold", unit="bytes", control=found.control, added=found.added)


@pytest.mark.weight(4)
def test_floor(measure: Callable[..., Any]) -> None:
    """One plain call of the hook function."""
    measure("floor", PLAIN_CALL, "empty", arms.floor, fires=1)


@pytest.mark.parametrize(("work", "workload"), SAMES)
def test_same(work: str, workload: str, measure: Callable[..., Any]) -> None:
    """The work beside itself: what is seen where there is nothing to see."""
    measure("same", Kind(work, "nothing", work), workload, partial(arms.same, work, workload), hooks=[0])


@pytest.mark.parametrize(("kind", "workload"), CALLS)
def test_call(kind: Kind, workload: str, measure: Callable[..., Any], called: Callable[..., int], notes: Notes) -> None:
    """One hook on one module, tensor or node."""
    absent = missing(kind.needs)
    if absent:
        notes.row("call", kind, workload, absent=absent)
        return
    build = partial(arms.by_count, kind, workload)
    measure("call", kind, workload, build, fires=called(kind, workload))


@pytest.mark.weight(3)
@pytest.mark.parametrize("name", COUNTED)
def test_count(name: str, measure: Callable[..., Any], called: Callable[..., int], notes: Notes) -> None:
    """Up to sixteen hooks of one kind on the empty module."""
    kind = KINDS[name]
    absent = missing(kind.needs)
    if absent:
        notes.row("count", kind, "empty", absent=absent)
        return
    build = partial(arms.by_count, kind, "empty", COUNTS)
    measure("count", kind, "empty", build, hooks=COUNTS, fires=called(kind, "empty"))


@pytest.mark.weight(8)
@pytest.mark.parametrize("name", ["forward", "full_backward"])
def test_each_module(name: str, measure: Callable[..., Any], called: Callable[..., int], notes: Notes) -> None:
    """A hook on each module of a transformer encoder of twelve layers."""
    kind = KINDS[name]
    absent = missing(kind.needs)
    if absent:
        notes.row("modules", kind, "encoder", absent=absent)
        return
    count = called(kind, "encoder", each=True)
    build = partial(arms.on_each_module, kind, "encoder")
    measure("modules", kind, "encoder", build, fires=count)


@pytest.mark.weight(0.5)
@pytest.mark.parametrize("name", REGISTERED)
def test_register(name: str, measure: Callable[..., Any], notes: Notes) -> None:
    """Registering a hook and removing it."""
    kind = KINDS[name]
    absent = missing(kind.needs)
    if absent:
        notes.row("register", kind, "empty", work="nothing", absent=absent)
        return
    measure("register", kind, "empty", partial(arms.registering, kind), work="nothing")
