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
from reports.data.cell import Cell, Cells
from reports.data.clause import Clause, Clauses, read_clauses
from reports.data.layout import in_order, laid_out
from reports.data.neighbours import neighbours
from reports.data.runfile import Run, check_clauses, check_version, minor
from reports.data.strict import FORMAT, BadInput, foreign_format, parse, read_bytes, validate, write_atomic

VERDICTS = Path(__file__).parents[1] / "verdicts"
COSTS_NAME = stored.COSTS  # what hooks cost, see reports/costs/recorded.py
#: What most clauses have nothing of; the table of the record leaves it out then.
EMPTY: Mapping[str, Any] = {
    "about": [], "asked": [], "checks_model": False, "concern": "", "deviations": [], "docs": "", "instead": "",
    "needs": [], "note": "", "see": [], "where": []
}  # fmt: skip
EXPLAINED = ("deviates", "refused")  # their notes are reasons; those of a crash change from run to run


@dataclass(frozen=True)
class Recorded:
    """The recorded verdicts of one torch minor version."""

    torch: str
    suite: str
    python: str
    platform: str
    device: str
    cells: Cells
    build: str | None = None
    #: The digest of what drew, played and judged when cells of it were recorded last.
    instruments: str | None = None
    #: The version of Hypothesis, to which the plans belong.
    hypothesis: str | None = None

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
    clauses: Clauses


def read_table(folder: Path = VERDICTS) -> Table:
    """Return the committed clause table, empty where nothing was recorded yet."""
    path = folder / stored.CLAUSES
    if not path.exists() and not any(folder.glob("*.json")):
        return Table("0", {})
    document = _document(path, "clauses.schema.json", FORMAT)
    check_version(path, "", "suite", document["suite"])
    clauses = read_clauses({name: {**EMPTY, **record} for name, record in document["clauses"].items()})
    check_clauses(path, "", clauses.values())
    return Table(document["suite"], clauses)


def read_recorded(folder: Path = VERDICTS) -> list[Recorded]:
    """Return what is recorded of each release, oldest torch first; nothing where nothing was recorded yet."""
    releases: dict[str, dict[str, Any]] = {}
    entries: dict[str, stored.Cells] = {}
    for name in stored.names(str(folder)):
        path = folder / name
        if name == stored.RELEASES:
            releases = stored.in_order(_document(path, "releases.schema.json", stored.FORMAT)["releases"])
            entries = {each: {} for each in releases}
            _check_releases(path, releases)
            continue
        document = _document(path, "verdicts.schema.json", stored.FORMAT)
        try:
            stored.unfold(document, releases, entries, str(path))
        except stored.Damaged as damage:
            raise BadInput(path, damage.place, damage.fault, stored.HINT) from None
    return [Recorded(**releases[name], cells=_cells(entries[name])) for name in releases]


def _cells(entries: stored.Cells) -> Cells:
    return {clause: {mode: Cell.of_record(entry) for mode, entry in modes.items()} for clause, modes in entries.items()}


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


def all_renamed(recorded: Iterable[Recorded], before: Clauses, now: Clauses) -> list[Recorded]:
    """Return what is recorded under the table `before` with the names that readings have in the table `now`."""
    pairs = [(before[name], clause) for name, clause in now.items() if name in before]
    new = [(old, clause) for old, clause in pairs if old.reading_names != clause.reading_names]
    return [replace(each, cells=_all_renamed(each.cells, new)) for each in recorded] if new else list(recorded)


def _all_renamed(cells: Cells, new: Iterable[tuple[Clause, Clause]]) -> Cells:
    found = dict(cells)
    for old, clause in new:
        if clause.id in cells:
            found[clause.id] = {mode: cell.under(old, clause) for mode, cell in cells[clause.id].items()}
    return found


def from_runs(runs: Iterable[Run], clauses: Clauses) -> Recorded:
    """Return what a recording of these runs, all of one torch version, would hold; readings are named as in `clauses`.

    A mode that deviates as declared has no evidence there: the sentence of its rule, or of the cause that eager has,
    says it for all clauses, and the plan with its traces is in the run file.
    """
    runs = list(runs)
    header, torch = runs[0].header, runs[0].version.public
    cells: dict[str, dict[str, Cell]] = {}
    for run in runs:
        for (clause, mode), cell in run.cells.items():
            note = cell.note if cell.verdict in EXPLAINED else ""
            evidence = None if mode != "eager" and cell.declared else cell.evidence
            if torch != header["torch"]:  # "2.13.0+cpu": the build is named once, not in each text
                note, evidence = (
                    stored.named(stored.unnamed(each, header["torch"]), torch) for each in (note, evidence)
                )
            cells.setdefault(clause, {})[mode] = replace(
                cell.under(run.clauses[clause], clauses[clause]), note=note, evidence=evidence
            )
    python = ".".join(header["python"].split(".")[:2])
    more = header.get("build"), header.get("instruments"), header.get("hypothesis")
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
    texts = []
    for clause in sorted(clauses):
        digests = Counter(cell.digest for each in releases for cell in each.cells.get(clause, {}).values())
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
        texts.append(f'{_json(clause)}: {{"digest": {_json(usual)}, "modes": {{\n' + ",\n".join(modes) + "}}")
    head = f'{{"format": {stored.FORMAT}, "newest": {_json(newest.minor)}, "clauses": {{\n'
    return head + ",\n".join(texts) + "\n}}\n"


def _row(cell: Cell | None, torch: str, usual: str) -> list[Any] | None:
    """Return what a row says of a cell, the same for two torches that do the same."""
    if cell is None:
        return None
    more = cell.more
    if cell.digest == usual:
        del more["digest"]
    row = [cell.verdict, cell.reading, stored.unnamed(in_order(more), torch)]
    while row[-1] in (None, {}):
        row.pop()
    return row


def write_table(table: Table, folder: Path = VERDICTS) -> list[Path]:
    """Write the clause table; return the file if it has changed."""
    shortened = {
        name: {key: value for key, value in record.items() if key not in EMPTY or value != EMPTY[key]}
        for name, record in in_order({name: clause.record for name, clause in table.clauses.items()}).items()
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
