"""What a hook takes in time, next to the same pass without it: pytest suites/timing --benchmark-only.

Times are for reading on one machine: instructions are what is compared, see `python -m suites.timing --count`.
"""

from typing import Any, Iterator

import pytest
import torch

from fixtures.stages.stage import missing
from suites.timing.hooked import attach, bare, check, hooked
from suites.timing.kinds import KINDS, LIB, observe
from suites.timing.workloads import WORKLOADS, Pass

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # torch speaks of hooks that it will drop one day
    pytest.mark.benchmark(max_time=0.2, min_rounds=20, warmup=True, warmup_iterations=20, disable_gc=True),
]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One thread, and no global hook left behind."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    LIB.reset()


def test_plain_call(benchmark: Any) -> None:
    """One plain call of a Python function: the unit that the others are multiples of."""
    benchmark.extra_info.update(kind="plain_call", workload="empty", side="bare", says="plain Python call")
    benchmark(observe, 1, 2, 3)


@pytest.mark.parametrize("side", ["bare", "hook"])
@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", KINDS)
def test_time(name: str, workload: str, side: str, benchmark: Any) -> None:
    """One pass, without the hook or with it."""
    kind = KINDS[name]
    absent = missing(kind.needs)
    if absent:
        pytest.skip(f"torch {torch.__version__} has no {absent[0]}")
    check(kind, workload)
    one = Pass(workload)
    benchmark.group = f"{kind.says}, {workload} module"
    benchmark.extra_info.update(kind=name, workload=workload, side=side, says=kind.says, torch=torch.__version__)
    if side == "hook":
        attach(kind, one, kind.hook)
        benchmark(hooked(kind, one, kind.hook))
    else:
        benchmark(bare(kind, one))
