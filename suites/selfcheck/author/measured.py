"""What torch does with one clause: measured here and in environments that tox made, and what is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from fixtures.clause.clause import Clause
from fixtures.model.contract import installed_version
from fixtures.run.naming import FOLDER
from reports.data.cell import Cell
from reports.data.runfile import read_run
from reports.data.strict import BadInput
from reports.record.torches import WORK, known_versions
from suites.examples import recorded
from suites.table import ROOT

#: Where environments are: those of tox, and those that `sweep --keep` left.
PLACES = (ROOT / ".tox", ROOT / WORK / "tox")
EAGER = "eager"
SECONDS = 300.0


def minor_here() -> str:
    """The release of the torch that is installed here, as tox.ini names it."""
    return ".".join(installed_version().split(".")[:2])


def environments(places: tuple[Path, ...] = PLACES) -> dict[str, str]:
    """The releases of which there is an environment, oldest first, each with its Python."""
    found = {}
    for minor in known_versions(ROOT / "tox.ini"):
        paths = (place / f"torch{minor}" / path for place in places for path in ("bin/python", "Scripts/python.exe"))
        if python := next((one for one in paths if one.exists()), None):
            found[minor] = str(python)
    return found


def chosen(found: Mapping[str, str]) -> dict[str, str]:
    """The torch that is here, and the oldest and the newest of those that have an environment."""
    ends = [*found][:1] + [*found][-1:]
    return {**{minor: found[minor] for minor in ends}, minor_here(): sys.executable}


def folder(clause: Clause) -> Path:
    """Where everything that is made of a clause here is put; `record` never looks there."""
    return ROOT / FOLDER / "author" / clause.id


def measure(clause: Clause, minor: str, python: str) -> Cell:
    """Measure a clause in eager mode with a Python that has a torch."""
    path = folder(clause) / f"torch{minor}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    file = clause.test().__module__.replace(".", "/") + ".py"
    command = [python, "-m", "pytest", file, "-q", "-p", "no:cacheprovider", "--profile", "recorded"]
    command += ["--mode", EAGER, "--clauses", clause.id, "--run-file", str(path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Cell("hung", note=f"more than {SECONDS:g} s")
    try:
        return read_run(path, partial=True).cells[clause.id, EAGER]
    except (BadInput, KeyError):
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in said if line.startswith(("E ", "ERROR"))]
        return Cell("unseen", note=(errors or said or ["pytest said nothing"])[-1])


def what(cell: Cell) -> str:
    """What was measured, in a few words."""
    about = cell.reading if cell.verdict == "conforms" else cell.deviation or ""
    return cell.verdict + f" ({about})" * bool(about)


def fault(cell: Cell) -> str:
    """What is wrong with a cell, with the first difference; nothing where it is as it should be."""
    if cell.verdict in ("conforms", "absent") or (cell.verdict == "deviates" and cell.declared):
        return ""
    if cell.verdict != "deviates":
        return f"{cell.verdict}: {cell.note}"
    pairs = zip_longest(*(cell.traces or ([], [])), fillvalue="nothing")
    differs = next((f"demanded: {one}, torch: {other}" for one, other in pairs if one != other), "")
    message = (cell.evidence or {}).get("message", "").partition("\n")[0]
    return f"deviates, and nothing declares it; {cell.note or differs or message}"


def known(clause: Clause) -> dict[str, Cell]:
    """What is recorded of the clause as it is now, by release, oldest first."""
    digest = clause.digest()
    entries = {minor: cells[clause.id] for minor, cells in recorded().items() if clause.id in cells}
    return {minor: Cell.of_record(entry) for minor, entry in entries.items() if entry["digest"] == digest}
