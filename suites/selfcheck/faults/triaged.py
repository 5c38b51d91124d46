"""`python -m suites.selfcheck.faults.triaged FOLDER`: does the triage of a run point at the fault that torch has?

Runs the whole suite once for each chosen fault, in a process of its own, and keeps the run files in FOLDER; a fault
whose run file is finished is not run again. About 40 seconds a fault on a quiet machine.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
from typing import Any

from fixtures.judge.triage import chapter, triage
from reports.data.runfile import BadInput, Run, read_run
from suites.selfcheck.faults import FAULTS, Fault

#: Names the fault that a pytest process has its torch wrong by.
FAULT = "HOOK_CONFORMANCE_FAULT"
STACK = contextlib.ExitStack()


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """As a plug-in of pytest: leave out what runs in a process of its own, where the fault is not."""
    items[:] = [item for item in items if not item.obj._clause.isolated]


def pytest_collection_finish(session: Any) -> None:
    """As a plug-in of pytest: have torch wrong from here on."""
    FAULTS[os.environ[FAULT]].enter(STACK)


def run_of(fault: Fault, folder: pathlib.Path, examples: int) -> Run:
    """The run of the whole suite on torch with a fault."""
    path = folder / f"{fault.name}.jsonl"
    with contextlib.suppress(BadInput):
        return read_run(path)
    path.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", __spec__.name]
    command += ["--quick", "--mode=eager", f"--examples={examples}", f"--run-file={path}"]
    subprocess.run(command, env={**os.environ, FAULT: fault.name}, stdout=subprocess.DEVNULL, check=False)
    return read_run(path)


def main() -> int:
    """Print a line per fault, and how often the start lies in a chapter that the fault is about."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.faults.triaged", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="where the run files are kept")
    parser.add_argument("--every", type=int, default=3, metavar="N", help="only each n-th fault (default 3)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="how many to leave out before (default 0)")
    parser.add_argument("--examples", type=int, default=5, metavar="N", help="plans per clause (default 5)")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in FAULTS.values() if one.applies and not one.control][given.first :: given.every]
    seen = started = large = 0
    for fault in chosen:
        found = triage(list(run_of(fault, given.folder, given.examples).lines.values()))
        if not found:
            print(f"{fault.name:28} nothing failed", flush=True)
            continue
        failures, first = sum(len(one.cells) for one in found), found[0]
        right = chapter(first.start) in {near.partition(".")[0] for near in fault.near}
        seen, started, large = seen + 1, started + right, large + (2 * len(first.cells) >= failures)
        sign = " " if right else "!"
        print(f"{sign} {fault.name:28} {len(first.cells):3} of {failures:3}  {first.start['clause']}", flush=True)
    print(f"the start lies in a chapter that the fault is about: {started} of {seen}")
    print(f"the largest cluster holds at least half of the failures: {large} of {seen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
