"""Rows of one process in the run file: each figure, and what must be known of the machine to judge it."""

import os
import platform
import statistics
import time
from typing import Any, Dict, NamedTuple, Sequence, Tuple

import pytest
import torch

from fixtures import recorder
from suites.timing.kinds import Kind
from suites.timing.pairs import Arm, Gauge, Turns, wide


def machine() -> str:
    """The name of the processor, as well as the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return (names or [platform.processor() or platform.machine()])[0]


class Comparison(NamedTuple):
    """A comparison that is visited several times: its turns so far, and what its rows tell beside the times."""

    kind: Kind
    turns: Turns
    hooks: Sequence[int]
    content: Dict[str, Any]


class Notes:
    """Writes rows into the run file, and divides the seconds among the tests by their weights."""

    def __init__(self, config: pytest.Config, weights: float) -> None:
        self.recorder = recorder.of(config)
        self.process: int = config.getoption("--timing-process")
        self.jobs: int = config.getoption("--timing-jobs")
        seconds = float(str(config.getoption("--timing-seconds")))
        self.one_weight = seconds / max(weights, 1.0)
        self.load = os.getloadavg()[0]
        self.gauge = Gauge(time.perf_counter)
        self.pace = Gauge(time.perf_counter, wide)
        self.paces = [self.pace()]
        self.began = time.perf_counter()
        self.going: Dict[Tuple[str, str, str], Comparison] = {}

    def begin(
        self,
        figure: str,
        kind: Kind,
        workload: str,
        groups: Sequence[Sequence[Arm]],
        slow: float,
        hooks: Sequence[int] = (1,),
        **content: Any,
    ) -> None:
        """Note a comparison that is visited several times, and what its rows will tell."""
        turns = Turns(groups, time.perf_counter, self.gauge, slow)
        self.going[figure, kind.name, workload] = Comparison(kind, turns, hooks, content)

    def turns(self, figure: str, kind: Kind, workload: str) -> Turns:
        """The turns of a comparison that was begun."""
        return self.going[figure, kind.name, workload].turns

    def look(self) -> None:
        """Look how fast the machine is for work that needs its caches, whatever torch there is."""
        self.paces.append(self.pace())

    def write(self, figure: str, **content: Any) -> None:
        self.recorder.write("benchmark", figure=figure, process=self.process, **content)

    def row(self, figure: str, kind: Kind, workload: str, **content: Any) -> None:
        """Write one figure of this process; what is not said stands for "none"."""
        row = {"hook": kind.name, "says": kind.says, "workload": workload, "work": kind.work, "hooks": 1}
        row.update({"absent": [], "unit": "ns", "fires": 0, "calls": 0, "rounds": 0, "control": None, "added": None})
        row.update(content)
        self.write(figure, **row)

    def end(self) -> None:
        """Write the rows of all comparisons, then the one about this process."""
        for (figure, _, workload), (kind, turns, hooks, content) in self.going.items():
            found = turns.measured()
            for count, added in zip(hooks, found.added):
                told = dict(content, hooks=count, rounds=found.rounds, calls=found.calls)
                self.row(figure, kind, workload, control=round(found.control, 2), added=round(added, 2), **told)
        self.write(
            "process",
            machine=machine(),
            cores=os.cpu_count() or 1,
            threads=torch.get_num_threads(),
            jobs=self.jobs,
            python=platform.python_version(),
            hash_seed=os.environ.get("PYTHONHASHSEED", "random"),
            load=[round(self.load, 2), round(os.getloadavg()[0], 2)],
            pace=round(statistics.median(self.paces) * 1e9),
            seconds=round(time.perf_counter() - self.began, 1),
        )
