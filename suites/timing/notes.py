"""Rows of one process in the run file: each figure, and what must be known of the machine to judge it."""

import os
import platform
import time
from typing import Any

import pytest
import torch

from fixtures import recorder
from suites.timing.kinds import Kind
from suites.timing.pairs import Gauge


def machine() -> str:
    """The name of the processor, as well as the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return (names or [platform.processor() or platform.machine()])[0]


class Notes:
    """Writes rows into the run file, and divides the seconds among the tests by their weights."""

    def __init__(self, config: pytest.Config, weights: float) -> None:
        self.recorder = recorder.of(config)
        self.process: int = config.getoption("--timing-process")
        seconds = float(str(config.getoption("--timing-seconds")))
        self.one_weight = seconds / max(weights, 1.0)
        self.load = os.getloadavg()[0]
        self.gauge = Gauge(time.perf_counter)
        self.began = time.perf_counter()

    def write(self, figure: str, **content: Any) -> None:
        self.recorder.write("benchmark", figure=figure, process=self.process, **content)

    def row(self, figure: str, kind: Kind, workload: str, **content: Any) -> None:
        """Write one figure of this process; what is not said stands for "none"."""
        row = {"hook": kind.name, "says": kind.says, "workload": workload, "work": kind.work, "hooks": 1}
        row.update({"absent": [], "unit": "ns", "fires": 0, "calls": 0, "rounds": 0, "control": None, "added": None})
        row.update(content)
        self.write(figure, **row)

    def end(self) -> None:
        """Write the row about this process."""
        self.write(
            "process",
            machine=machine(),
            cores=os.cpu_count() or 1,
            threads=torch.get_num_threads(),
            python=platform.python_version(),
            hash_seed=os.environ.get("PYTHONHASHSEED", "random"),
            load=[round(self.load, 2), round(os.getloadavg()[0], 2)],
            seconds=round(time.perf_counter() - self.began, 1),
        )
