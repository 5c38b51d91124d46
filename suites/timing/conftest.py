"""What the timing tests share: the options of one process, the clock, and rows into the run file."""

import gc
import time
import warnings
from typing import Any, Callable, Iterator, List, Sequence

import pytest

from fixtures.modes import missing
from suites.timing.arms import fires
from suites.timing.kinds import KINDS, LIB, Kind
from suites.timing.notes import Notes
from suites.timing.pairs import Arm, Turns
from suites.timing.workloads import Pass

#: Seconds of measuring in one process, when nobody says how many.
SECONDS = 6.0
#: How many times each comparison is built from new objects.
GROUPS = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hook timing")
    group.addoption("--timing-seconds", type=float, default=SECONDS, metavar="S", help="seconds of measuring")
    group.addoption("--timing-process", type=int, default=1, metavar="N", help="the number of this process")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "weight(share): the share of the measuring time that a test gets")


def weight_of(item: Any) -> float:
    """The share of a test: none where this torch lacks the kind of hook that it is of."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    kind = params.get("kind") or KINDS.get(params.get("name"))
    mark = item.get_closest_marker("weight")
    return float(mark.args[0]) if mark and not (kind and missing(kind.needs)) else 0.0


@pytest.fixture(scope="session")
def notes(request: pytest.FixtureRequest) -> Iterator[Notes]:
    """One session: the rows of the tests, then one about the process."""
    found = Notes(request.config, sum(weight_of(item) for item in request.session.items))
    Pass("small").both()  # the first backward of a process imports much
    gc.collect()
    gc.freeze()
    yield found
    found.end()


@pytest.fixture
def measure(request: pytest.FixtureRequest, notes: Notes, benchmark: Any) -> Callable[..., Any]:
    """Measure a comparison and write one row for each arm but the control.

    pytest-benchmark runs it and keeps the figures in its `extra_info`: what it times itself is the whole comparison.
    """
    seconds = weight_of(request.node) * notes.one_weight

    def run(figure: str, kind: Kind, workload: str, build: Callable[[], Sequence[Arm]], **content: Any) -> None:
        hooks: List[int] = content.pop("hooks", [1])
        turns = Turns([build() for _ in range(GROUPS)], time.perf_counter, notes.gauge)
        gc.collect()
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch speaks of hooks that it will drop one day
                benchmark.pedantic(turns.run, args=(seconds,))
        finally:
            gc.enable()
            LIB.reset()
        found = turns.measured()
        benchmark.group = f"{figure} {workload}"
        benchmark.extra_info.update(control_ns=found.control, added_ns=found.added)
        for count, added in zip(hooks, found.added):
            told = dict(content, hooks=count, rounds=found.rounds, calls=found.calls)
            notes.row(figure, kind, workload, control=round(found.control, 2), added=round(added, 2), **told)

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
