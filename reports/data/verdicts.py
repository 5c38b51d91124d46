"""The committed verdicts: a file of ranges for each chapter, a line for each release, and the clause table.

The form of the ranges is described in `fixtures.run.recorded`, which reads them; they are written here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from fixtures.run import recorded as stored
from reports.data.layout import in_order, laid_out
from reports.data.neighbours import neighbours
from reports.data.runfile import Run, check_clauses, check_version, minor
from reports.data.strict import FORMAT, BadInput, foreign_format, parse, read_bytes, validate, write_atomic

VERDICTS = Path(__file__).parents[1] / "verdicts"
COSTS_NAME = stored.COSTS  # what hooks cost, see reports/costs/recorded.py
#: What most clauses have nothing of; the table of the record leaves it out then.
EMPTY: Mapping[str, Any] = {
    "about": [], "concern": "", "deviations": [], "docs": "", "instead": "", "needs": [], "note": ""
}  # fmt: skip
Clauses = Mapping[str, Any]
EXPLAINED = ("deviates", "refused")  # their notes are reasons; those of a crash change from run to run


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
    #: The digest of what drew, played and judged when cells of it were recorded last.
    instruments: str | None = None

    @property
    def version(self) -> Version:
        """The torch release that was measured."""
        return Version(self.torch)

    @property
    def minor(self) -> str:
        """The minor version, by which it is named."""
        return minor(self.version)


@dataclass(frozen=True)
class Table:
    """The clause table of the newest recording."""

    suite: str
    clauses: Mapping[str, Any]


def read_table(folder: Path = VERDICTS) -> Table:
    """Return the committed clause table, empty where nothing was recorded yet."""
    path = folder / stored.CLAUSES
    if not path.exists() and not any(folder.glob("*.json")):
        return Table("0", {})
    document = _document(path, "clauses.schema.json", FORMAT)
    check_version(path, "", "suite", document["suite"])
    check_clauses(path, "", document["clauses"])
    return Table(document["suite"], {name: {**EMPTY, **clause} for name, clause in document["clauses"].items()})


def read_recorded(folder: Path = VERDICTS) -> list[Recorded]:
    """Return what is recorded of each release, oldest torch first; nothing where nothing was recorded yet."""
    releases: dict[str, dict[str, Any]] = {}
    cells: dict[str, stored.Cells] = {}
    for name in stored.names(str(folder)):
        path = folder / name
        if name == stored.RELEASES:
            releases = stored.in_order(_document(path, "releases.schema.json", stored.FORMAT)["releases"])
            cells = {each: {} for each in releases}
            _check_releases(path, releases)
            continue
        document = _document(path, "verdicts.schema.json", stored.FORMAT)
        try:
            stored.unfold(document, releases, cells, str(path))
        except stored.Damaged as damage:
            raise BadInput(path, damage.place, damage.fault, stored.HINT) from None
    return [Recorded(**releases[name], cells=cells[name]) for name in releases]


def _document(path: Path, schema: str, number: int) -> Any:
    document = parse(read_bytes(path), path, "", stored.HINT)
    foreign_format(document, path, "", number)
    validate(document, schema, path, "", stored.HINT)
    return document


def _check_releases(path: Path, releases: Mapping[str, Mapping[str, Any]]) -> None:
    for name, known in releases.items():
        for key in ("torch", "suite"):
            check_version(path, name, key, known[key], stored.HINT)
        if minor(Version(known["torch"])) != name:
            raise BadInput(path, name, f"holds torch {known['torch']}", stored.HINT)


def entry(cell: Mapping[str, Any], digest: str) -> dict[str, Any]:
    """Return what is known of a cell: no time, no date, nothing that changes from run to run."""
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


def renamed(cell: Mapping[str, Any], before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell of a clause with the text `before` under the names that its readings have in its text `now`.

    Only between texts of the same digest: the readings of another text are others.
    """
    known = before["digest"] == now["digest"]
    return stored.renamed(dict(cell), names_of(before), names_of(now)) if known else dict(cell)


def all_renamed(recorded: Iterable[Recorded], before: Clauses, now: Clauses) -> list[Recorded]:
    """Return what is recorded under the table `before` with the names of the table `now`."""
    new = {name for name, clause in now.items() if name in before and names_of(before[name]) != names_of(clause)}
    return [replace(old, cells=_all_renamed(old, new, before, now)) for old in recorded] if new else list(recorded)


def _all_renamed(old: Recorded, new: Iterable[str], before: Clauses, now: Clauses) -> dict[str, Any]:
    found = dict(old.cells)
    for clause in new:
        cells = old.cells.get(clause, {})
        found[clause] = {mode: renamed(cell, before[clause], now[clause]) for mode, cell in cells.items()}
    return {clause: cells for clause, cells in found.items() if cells}


def names_of(clause: Mapping[str, Any]) -> list[str]:
    """Return the names of the readings of a clause, in order."""
    return [one["name"] for one in clause["readings"]]


def from_runs(runs: Iterable[Run], clauses: Mapping[str, Any]) -> Recorded:
    """Return what a recording of these runs, all of one torch version, would hold; readings are named as in `clauses`.

    A mode that deviates as declared has no evidence there: the sentence of its rule, or of the cause that eager has,
    says it for all clauses, and the plan with its traces is in the run file.
    """
    runs = list(runs)
    header, torch = runs[0].header, runs[0].version.public
    cells: dict[str, dict[str, Any]] = {}
    for run in runs:
        for (clause, mode), cell in run.cells.items():
            found = renamed(entry(cell, run.clauses[clause]["digest"]), run.clauses[clause], clauses[clause])
            if mode != "eager" and cell["declared"]:
                found.pop("evidence", None)
            if torch != header["torch"]:  # "2.13.0+cpu": the build is told once, not in each text
                found = stored.named(stored.unnamed(found, header["torch"]), torch)
            cells.setdefault(clause, {})[mode] = found
    python = ".".join(header["python"].split(".")[:2])
    more = header.get("build"), header.get("instruments")
    return Recorded(torch, header["suite"], python, header["platform"], header["device"], cells, *more)


def write_recorded(recorded: Iterable[Recorded], folder: Path = VERDICTS) -> list[Path]:
    """Write what is recorded of all releases; return the files that have changed.

    The releases come first: a chapter that does not know the newest of them yet is whole.
    """
    releases = sorted(recorded, key=lambda each: each.version)
    chapters: dict[str, dict[str, set[str]]] = {}
    for clause, modes in ((clause, modes) for each in releases for clause, modes in each.cells.items()):
        chapters.setdefault(clause.partition(".")[0], {}).setdefault(clause, set()).update(modes)
    texts = {stored.RELEASES: _releases(releases)}
    texts.update((f"{name}.json", _chapter(releases, chapters[name])) for name in sorted(chapters))
    changed = [folder / name for name, text in texts.items() if _write(folder / name, text)]
    for name in stored.names(str(folder)):
        if name not in texts:
            (folder / name).unlink()
    return changed


def _releases(releases: Iterable[Recorded]) -> str:
    lines = []
    for each in releases:
        known = {key: value for key, value in asdict(replace(each, cells={})).items() if value}
        lines.append(f"{_json(each.minor)}: {_json(known)}")
    return f'{{"format": {stored.FORMAT}, "releases": {{\n' + ",\n".join(lines) + "\n}}\n"


def _chapter(releases: Sequence[Recorded], clauses: Mapping[str, Iterable[str]]) -> str:
    """Return the text of a chapter: a line for each row, and more lines for one that holds much."""
    newest = next(each for each in reversed(releases) if any(clause in each.cells for clause in clauses))
    told = []
    for clause in sorted(clauses):
        digests = Counter(cell["digest"] for each in releases for cell in each.cells.get(clause, {}).values())
        usual = max(digests, key=lambda digest: (digests[digest], digest))
        modes = []
        for mode in sorted(clauses[clause], key=lambda mode: (mode != "eager", mode)):
            cells = [_row(each.cells.get(clause, {}).get(mode), each.torch, usual) for each in releases]
            rows = []
            for row, alike in neighbours(zip(releases, cells, strict=True), lambda pair: pair[1]):
                (first, _), (last, _) = alike[0], alike[-1]
                if row is not None:
                    end = stored.NEWEST if last is newest else last.minor
                    rows.append(f"  {laid_out([first.minor, end, *row], '  ')}")
            modes.append(f" {_json(mode)}: [\n" + ",\n".join(rows) + "]")
        told.append(f'{_json(clause)}: {{"digest": {_json(usual)}, "modes": {{\n' + ",\n".join(modes) + "}}")
    head = f'{{"format": {stored.FORMAT}, "newest": {_json(newest.minor)}, "clauses": {{\n'
    return head + ",\n".join(told) + "\n}}\n"


def _row(cell: Mapping[str, Any] | None, torch: str, usual: str) -> list[Any] | None:
    """Return what a row says of a cell, the same for two torches that do the same."""
    if cell is None:
        return None
    more = {key: value for key, value in cell.items() if key not in ("verdict", "reading")}
    if more["digest"] == usual:
        del more["digest"]
    row = [cell["verdict"], cell["reading"], stored.unnamed(in_order(more), torch)]
    while row[-1] in (None, {}):
        row.pop()
    return row


def write_table(table: Table, folder: Path = VERDICTS) -> list[Path]:
    """Write the clause table; return the file if it has changed."""
    shortened = {
        name: {key: value for key, value in clause.items() if key not in EMPTY or value != EMPTY[key]}
        for name, clause in in_order(table.clauses).items()
    }
    clauses = ",\n".join(f"{_json(name)}: {laid_out(each)}" for name, each in shortened.items())
    head = f'{{"format": {FORMAT}, "suite": {_json(table.suite)}, "clauses": {{\n'
    path = folder / stored.CLAUSES
    return [path] if _write(path, f"{head}{clauses}\n}}}}\n") else []


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(path: Path, text: str) -> bool:
    """Write a text and say whether it is another one than before."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_atomic(path, text)
    return True
