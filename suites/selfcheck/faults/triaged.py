"""`python -m suites.selfcheck.faults.triaged FOLDER`: does the triage of a run point at the fault that torch has?

Runs the whole suite once per fault, each in a process of its own, and keeps the run files in FOLDER; a fault whose run
file is there is not run again.
"""

import contextlib
import os
from typing import Any

from suites.selfcheck.faults import FAULTS

#: Names the fault that a pytest process has its torch wrong by.
FAULT = "HOOK_CONFORMANCE_FAULT"
STACK = contextlib.ExitStack()


def pytest_collection_finish(session: Any) -> None:
    """As a plug-in of pytest: have torch wrong from here on."""
    FAULTS[os.environ[FAULT]].enter(STACK)


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave out what runs in a process of its own: the fault is not there."""
    items[:] = [item for item in items if not item.obj._clause.isolated]
