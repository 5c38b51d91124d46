"""What the timing tests share: the options of one process, the clock, and rows into the run file."""

import gc
import warnings
from typing import Any, Callable, Iterator, List, Sequence

import pytest

from fixtures.modes import missing
from suites.timing.arms import fires
from suites.timing.kinds import LIB, Kind
from suites.timing.notes import Notes
from suites.timing.pairs import Arm
from suites.timing.visits import MOST_VISITS, in_rounds, share_of, time_of
from suites.timing.workloads import Pass

#: Seconds of measuring in one process, when nobody says how many.
SECONDS = 6.0


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hook timing")
    group.addoption("--timing-seconds", type=float, default=SECONDS, metavar="S", help="seconds of measuring")
    group.addoption("--timing-process", type=int, default=1, metavar="N", help="the number of this process")
    group.addoption("--timing-jobs", type=int, default=1, metavar="N", help="how many run at the same time")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "time(weight, visits, slow, groups): see suites.timing.arms.Time")


def pytest_collection_modifyitems(items: List[pytest.Item]) -> None:
    items[:] = in_rounds(items)


@pytest.fixture(scope="session")
def notes(request: pytest.FixtureRequest) -> Iterator[Notes]:
    """One session: the rows of the tests, then one about the process."""
    found = Notes(request.config, sum(share_of(item) for item in request.session.items))
    Pass("small").both()  # the first backward of a process imports much
    gc.collect()
    gc.freeze()
    yield found
    found.end()


@pytest.fixture(params=range(MOST_VISITS))
def visit(request: pytest.FixtureRequest) -> int:
    """The number of a visit, from 0."""
    return request.param


@pytest.fixture
def measure(request: pytest.FixtureRequest, notes: Notes, visit: int, benchmark: Any) -> Callable[..., Any]:
    """Measure a comparison for a while, at each visit anew; its rows are written at the end of the session.

    pytest-benchmark runs it and keeps the figures in its `extra_info`: what it times itself is the whole visit.
    """

    def run(figure: str, kind: Kind, workload: str, build: Callable[[], Sequence[Arm]], **content: Any) -> None:
        fires, absent = content.pop("fires", int), missing(kind.needs)
        if absent:
            notes.row(figure, kind, workload, absent=absent, work=content.get("work", kind.work))
            return
        time = time_of(request.node)
        groups = [build() for _ in range(time.groups)]
        if visit == 0:
            notes.begin(figure, kind, workload, groups, time.slow, fires=fires(), **content)
        turns = notes.turns(figure, kind, workload)
        turns.renew(groups)
        gc.collect(1)  # what the last visit left; all else is frozen, or old
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch speaks of hooks that it will drop one day
                notes.look()
                benchmark.pedantic(turns.run, args=(share_of(request.node) * notes.one_weight,))
        finally:
            gc.enable()
            LIB.reset()
        benchmark.group = f"{figure} {workload}"
        benchmark.extra_info.update(turns.measured()._asdict())

    return run


@pytest.fixture
def called() -> Callable[..., int]:
    """How often one pass calls a hook of this kind."""

    def run(kind: Kind, workload: str, each: bool = False) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return fires(kind, workload, each)
            finally:
                LIB.reset()

    return run
