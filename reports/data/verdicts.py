"""The committed verdicts: a file of ranges for each chapter, and a line for each release.

The form of the ranges is described in `fixtures.run.recorded`, which reads them; they are written here.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from fixtures.run import recorded as stored
from reports.data.cell import Cell, Cells
from reports.data.clause import read_clauses
from reports.data.layout import in_order, laid_out
from reports.data.neighbours import from_to, neighbours
from reports.data.runfile import Run, check_version, minor
from reports.data.strict import BadInput, foreign_format, parse, read_bytes, validate, write_atomic
from reports.data.table import Table, document
from reports.data.wording import MARK, kept, named, unnamed

VERDICTS = Path(__file__).parents[1] / "verdicts"
COSTS_NAME = stored.COSTS  # what hooks cost, see reports/costs/recorded.py
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


def read_table(folder: Path = VERDICTS) -> Table:
    """Return what the suites say of all clauses, with the words of a usual program that each was tested beyond."""
    found = document(folder)
    records = found["clauses"]
    for name in stored.names(str(folder))[1:]:
        for clause, held in _document(folder / name, "verdicts.schema.json")["clauses"].items():
            if clause in records and "beyond" in held:
                records[clause] = {**records[clause], "beyond": held["beyond"]}
    return Table(found["suite"], read_clauses(records), found["modes"], found.get("within", {}))


def read_recorded(folder: Path = VERDICTS) -> list[Recorded]:
    """Return what is recorded of each release, oldest torch first; nothing where nothing was recorded yet."""
    releases: dict[str, dict[str, Any]] = {}
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for name in stored.names(str(folder)):
        path = folder / name
        if name == stored.RELEASES:
            releases = stored.in_order(_document(path, "releases.schema.json")["releases"])
            cells = {each: {} for each in releases}
            _check_releases(path, releases)
            continue
        try:
            rows = stored.rows(_document(path, "verdicts.schema.json"), list(releases), str(path))
            for clause, mode, minors, entry in rows:
                for release, cell in _cells(entry, minors, releases):
                    cells[release].setdefault(clause, {})[mode] = cell
        except stored.Damaged as damage:
            raise BadInput(path, damage.place, damage.fault, stored.HINT) from None
    return [Recorded(**releases[name], cells=cells[name]) for name in releases]


def _cells(
    entry: Mapping[str, Any], minors: Iterable[str], releases: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Cell]]:
    """Yield each release of a row with its cell: the same one for all, unless a text in it names the torch."""
    whole = Cell.of_record(entry)
    alike = whole.bare or MARK not in json.dumps(entry, ensure_ascii=False)
    for each in minors:
        yield each, whole if alike else Cell.of_record(named(entry, str(releases[each]["torch"])))


def _document(path: Path, schema: str) -> Any:
    return _checked(read_bytes(path), path, schema)


@functools.lru_cache(maxsize=64)
def _checked(raw: bytes, path: Path, schema: str) -> Any:
    """Return what is in a file of the record: the clause table takes a part of it, what is recorded the rest."""
    found = parse(raw, path, "", stored.HINT)
    foreign_format(found, path, "", stored.FORMAT)
    validate(found, schema, path, "", stored.HINT)
    return found


def _check_releases(path: Path, releases: Mapping[str, Mapping[str, Any]]) -> None:
    for name, known in releases.items():
        for key in ("torch", "suite"):
            check_version(path, name, key, known[key], stored.HINT)
        if minor(Version(known["torch"])) != name:
            raise BadInput(path, name, f"holds torch {known['torch']}", stored.HINT)


def from_runs(runs: Iterable[Run], table: Table) -> Recorded:
    """Return what a recording of these runs, all of one torch version, would hold.

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
                note, evidence = (named(unnamed(each, header["torch"]), torch) for each in (note, evidence))
            found = kept(replace(cell, note=note, evidence=evidence), run.clauses[clause], mode, table)
            cells.setdefault(clause, {})[mode] = found
    python = ".".join(header["python"].split(".")[:2])
    more = header.get("build"), header.get("instruments"), header.get("hypothesis")
    return Recorded(torch, header["suite"], python, header["platform"], header["device"], cells, *more)


def write_recorded(
    recorded: Iterable[Recorded], folder: Path = VERDICTS, beyond: Mapping[str, Sequence[str]] | None = None
) -> list[Path]:
    """Write what is recorded of all releases, and beyond which words clauses were tested; return the changed files.

    The releases come first: a chapter that does not know the newest of them yet is whole.
    """
    releases = sorted(recorded, key=lambda each: each.version)
    chapters: dict[str, dict[str, set[str]]] = {}
    for clause, modes in ((clause, modes) for each in releases for clause, modes in each.cells.items()):
        chapters.setdefault(clause.partition(".")[0], {}).setdefault(clause, set()).update(modes)
    texts = {stored.RELEASES: _releases(releases)}
    texts.update((f"{name}.json", _chapter(releases, chapters[name], beyond or {})) for name in sorted(chapters))
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


def _chapter(
    releases: Sequence[Recorded], clauses: Mapping[str, Iterable[str]], beyond: Mapping[str, Sequence[str]]
) -> str:
    """Return the text of a chapter: a line for each row, and more lines for one that holds much."""
    newest = next(each for each in reversed(releases) if any(clause in each.cells for clause in clauses))
    texts = []
    for clause in sorted(clauses):
        cells = {
            mode: [each.cells.get(clause, {}).get(mode) for each in releases]
            for mode in sorted(clauses[clause], key=lambda mode: (mode != "eager", mode))
        }
        digests = Counter(cell.digest for found in cells.values() for cell in found if cell)
        usual = max(digests, key=lambda digest: (digests[digest], digest))
        known = {"digest": usual, "run": _run(releases, cells, newest), "beyond": beyond.get(clause)}
        head = ",\n ".join(f"{_json(key)}: {laid_out(each, ' ')}" for key, each in known.items() if each is not None)
        modes = []
        for mode, found in cells.items():
            said = (_row(cell, each.torch, usual) for each, cell in zip(releases, found, strict=True))
            rows = [laid_out([*ends, *row], "  ") for row, *ends in _ranges(releases, said, newest) if row is not None]
            modes.append(f" {_json(mode)}: [" + ",\n  ".join(rows) + "]")
        texts.append(f'{_json(clause)}: {{{head}, "modes": {{\n' + ",\n".join(modes) + "}}")
    head = f'{{"format": {stored.FORMAT}, "newest": {_json(newest.minor)}, "clauses": {{\n'
    return head + ",\n".join(texts) + "\n}}\n"


def _run(
    releases: Sequence[Recorded], cells: Mapping[str, Sequence[Cell | None]], newest: Recorded
) -> dict[str, list[str]] | None:
    """Return on which releases a clause was run, and the modes of which that is so, unless it was on all."""
    found: dict[str, list[str]] = {}
    for mode, each in cells.items():
        if any(cell.restamped for cell in each if cell):
            ran = _ranges(releases, (cell is not None and not cell.restamped for cell in each), newest)
            found.setdefault(", ".join(from_to(*ends) for yes, *ends in ran if yes), []).append(mode)
    return found or None


def _ranges(releases: Iterable[Recorded], values: Iterable[Any], newest: Recorded) -> Iterator[tuple[Any, str, str]]:
    """Yield a value, and the first and the last one of neighbouring releases that have it."""
    for value, alike in neighbours(zip(releases, values, strict=True), lambda pair: pair[1]):
        (first, _), (last, _) = alike[0], alike[-1]
        yield value, first.minor, stored.NEWEST if last is newest else last.minor


def _row(cell: Cell | None, torch: str, usual: str) -> list[Any] | None:
    """Return what a row says of a cell, the same for two torches that do the same, and wherever its text was run."""
    if cell is None:
        return None
    more = replace(cell, restamped=False).more
    if cell.digest == usual:
        del more["digest"]
    row = [cell.verdict, cell.reading, unnamed(in_order(more), torch)]
    while row[-1] in (None, {}):
        row.pop()
    return row


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(path: Path, text: str) -> bool:
    """Write a text and say whether it is another one than before."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_atomic(path, text)
    return True
