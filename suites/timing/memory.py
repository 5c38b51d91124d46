"""How much memory a run takes: python -m pytest -p suites.timing.memory [-p no:xdist] prints the curve at its end.

The largest resident size so far of the process that judges, in MB above what it has once torch is imported, for each
topic file. What a play leaves behind makes it rise to the end; see suites/selfcheck/core/test_memory.py.
"""

import resource
import sys
from typing import Any, Dict

PEAKS: Dict[str, int] = {}
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes; see getrusage(2)


def peak() -> int:
    """The largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT // 1_000_000


def pytest_collection_finish() -> None:
    PEAKS[""] = peak()


def pytest_runtest_logfinish(nodeid: str) -> None:
    PEAKS[nodeid.partition("::")[0]] = peak()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    start = PEAKS.pop("", 0)
    terminalreporter.write_sep("-", f"memory above {start} MB, the size with torch and the suite imported")
    for name, size in PEAKS.items():
        terminalreporter.write_line(f"{size - start:6} MB  {name}")
