"""The committed verdicts: one small sorted file for each torch minor version, and the table of clauses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from reports.data.runfile import Run, check_clauses, check_version, minor
from reports.data.strict import FORMAT, BadInput, foreign_format, parse, read_bytes, validate, write_atomic

VERDICTS = Path(__file__).parents[1] / "verdicts"
CLAUSES = "clauses.json"
COSTS_NAME = "costs.json"  # what hooks cost, see costs_recorded.py
EXPLAINED = ("deviates", "refused")  # their notes are reasons; those of a crash change from run to run
AGAIN = "restore it with git, or record the version again"


@dataclass(frozen=True)
class Recorded:
    """The recorded verdicts of one torch minor version."""

    torch: str
    suite: str
    python: str
    platform: str
    device: str
    cells: Mapping[str, Mapping[str, Mapping[str, Any]]]
    build: str | None = None

    @property
    def version(self) -> Version:
        """The torch release that was measured."""
        return Version(self.torch)

    @property
    def minor(self) -> str:
        """The minor version, which names the file."""
        return minor(self.version)


@dataclass(frozen=True)
class Table:
    """The clause table of the newest recording."""

    suite: str
    clauses: Mapping[str, Any]


def read_table(folder: Path = VERDICTS) -> Table:
    """Return the committed clause table, empty where nothing was recorded yet."""
    path = folder / CLAUSES
    if not path.exists() and not any(folder.glob("*.json")):
        return Table("0", {})
    document = _document(path)
    validate(document, "clauses.schema.json", path, "", AGAIN)
    check_version(path, "", "suite", document["suite"])
    check_clauses(path, "", document["clauses"])
    return Table(document["suite"], document["clauses"])


def read_recorded(folder: Path = VERDICTS) -> list[Recorded]:
    """Return all committed verdict files, oldest torch first; none where nothing was recorded yet."""
    seen: set[str] = set()
    paths = sorted(path for path in folder.glob("*.json") if path.name not in (CLAUSES, COSTS_NAME))
    return sorted((_recorded(path, seen) for path in paths), key=lambda recorded: recorded.version)


def _document(path: Path) -> Any:
    document = parse(read_bytes(path), path, "", AGAIN)
    foreign_format(document, path, "")
    return document


def _recorded(path: Path, seen: set[str]) -> Recorded:
    document = _document(path)
    validate(_unseen_cells(document, seen), "verdicts.schema.json", path, "", AGAIN)
    for name in ("torch", "suite"):
        check_version(path, "", name, document[name])
    if minor(Version(document["torch"])) != path.stem:
        raise BadInput(path, "", f"holds torch {document['torch']}, not {path.stem}", AGAIN)
    return Recorded(
        document["torch"], document["suite"], document["python"], document["platform"], document["device"],
        document["cells"], document.get("build"),
    )  # fmt: skip


def _unseen_cells(document: Any, seen: set[str]) -> Any:
    """Return the document with only the cells that no file before it held: 26 files repeat the same thousands."""
    if not isinstance(document, dict) or not isinstance(document.get("cells"), dict):
        return document
    marks = {clause: clause + repr(modes) for clause, modes in document["cells"].items()}
    fresh = {clause: document["cells"][clause] for clause, mark in marks.items() if mark not in seen}
    seen.update(marks.values())
    return {**document, "cells": fresh}


def entry(cell: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return what is recorded of a cell: no time, no date, nothing that changes from run to run."""
    found = {"verdict": cell["verdict"], "reading": cell["reading"], "digest": digest}
    if cell["declared"]:
        found["declared"] = True
    if cell.get("deviation"):
        found["deviation"] = cell["deviation"]
    if cell["holds"]:
        found["holds"] = sorted(cell["holds"])
    if cell["note"] and cell["verdict"] in EXPLAINED:
        found["note"] = cell["note"]
    if cell["evidence"] is not None:
        found["evidence"] = dict(cell["evidence"])
    return found


def from_runs(runs: Iterable[Run]) -> Recorded:
    """Return what a recording of these runs, all of one torch version, would hold."""
    runs = list(runs)
    first = runs[0]
    cells: dict[str, dict[str, Any]] = {}
    for run in runs:
        for (clause, mode), cell in run.cells.items():
            cells.setdefault(clause, {})[mode] = entry(cell, run.clauses[clause]["digest"])
    header = first.header
    python = ".".join(header["python"].split(".")[:2])
    return Recorded(
        first.version.public, header["suite"], python, header["platform"], header["device"], cells, header.get("build")
    )  # fmt: skip


def write_recorded(recorded: Recorded, folder: Path = VERDICTS) -> Path:
    """Write one verdict file."""
    path = folder / f"{recorded.minor}.json"
    document = {
        "format": FORMAT, "suite": recorded.suite, "torch": recorded.torch, "python": recorded.python,
        "platform": recorded.platform, "device": recorded.device, "cells": recorded.cells,
        **({"build": recorded.build} if recorded.build else {}),
    }  # fmt: skip
    write_atomic(path, _text(document))
    return path


def write_table(table: Table, folder: Path = VERDICTS) -> Path:
    """Write the clause table."""
    path = folder / CLAUSES
    write_atomic(path, _text({"format": FORMAT, "suite": table.suite, "clauses": table.clauses}))
    return path


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
