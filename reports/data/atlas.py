"""The atlas: all committed verdicts and the given runs, merged; the page and every later view read only this."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from reports.data.merge import check_group
from reports.data.runfile import Key, Run, is_release, run_key
from reports.data.strict import BadInput
from reports.data.verdicts import Recorded, Table, all_renamed, entry, renamed

VERDICT_NAMES = ("conforms", "deviates", "crashed", "hung", "refused", "absent", "unseen")
OLDER_TEXT = "recorded with an older text of the clause"
NOT_RUN = "not run here"
PLAIN = 3  # a recorded cell with only its verdict, reading and digest


@dataclass(frozen=True)
class Cell:
    """What is known of one clause on one torch in one mode."""

    verdict: str
    reading: str | None = None
    declared: bool = False
    holds: tuple[str, ...] = ()
    note: str = ""
    evidence: Mapping[str, Any] | None = None
    deviation: str | None = None

    @property
    def essence(self) -> tuple[Any, ...]:
        """What the evidence shows, without the words that name the torch it was seen on."""
        if self.evidence is None:
            return ()
        shown = (self.evidence["plan"], tuple(self.evidence["expected"]), tuple(self.evidence["observed"]))
        return shown if any(shown) else (self.evidence["message"],)

    @property
    def new(self) -> bool:
        """Whether this deviation is one nobody declared."""
        return self.verdict == "deviates" and not self.declared


UNSEEN = Cell("unseen", note=NOT_RUN)


@dataclass(frozen=True)
class Column:
    """One torch on the page."""

    key: str
    label: str
    torch: str
    python: str
    platform: str
    device: str
    this_run: bool = False
    nearest: str | None = None
    unfinished: int = 0
    instruments: str | None = None

    @property
    def version(self) -> Version:
        """The torch version, by which columns are sorted."""
        return Version(self.torch)


@dataclass(frozen=True)
class Atlas:
    """Clauses, columns and the cells between them, keyed clause, column key, mode."""

    suite: str
    clauses: Mapping[str, Any]
    columns: tuple[Column, ...]
    modes: tuple[str, ...]
    cells: Mapping[tuple[str, str, str], Cell]

    def cell(self, clause: str, column: Column, mode: str) -> Cell:
        """Return the cell, unseen where nothing was run."""
        return self.cells.get((clause, column.key, mode), UNSEEN)

    @property
    def focus(self) -> Column:
        """The column that the page speaks of first: this run where there is one, otherwise the newest torch."""
        runs = [column for column in self.columns if column.this_run]
        return (runs or list(self.columns))[-1]

    def counts(self, column: Column, mode: str | None = None) -> dict[str, int]:
        """Return how often each verdict is in a column, in the order of VERDICT_NAMES."""
        chosen = mode or self.modes[0]
        counts = Counter(self.cell(clause, column, chosen).verdict for clause in self.clauses)
        return {verdict: counts[verdict] for verdict in VERDICT_NAMES if counts[verdict]}


def undeclared(atlas: Atlas, column: Column) -> int:
    """Return how many cells of a column deviate although nobody declared it."""
    return sum(atlas.cell(clause, column, mode).new for clause in atlas.clauses for mode in atlas.modes)


def build(table: Table, recorded: Iterable[Recorded], runs: Iterable[Run] = ()) -> Atlas:
    """Merge everything into one atlas."""
    recorded, runs = list(recorded), list(runs)
    suite, clauses = newest_table(table, runs)
    recorded = all_renamed(recorded, table.clauses, clauses)
    columns: dict[str, Column] = {}
    cells: dict[tuple[str, str, str], Cell] = {}
    fresh = _grouped(runs)
    for old in recorded:
        if old.minor not in fresh:
            where = old.python, old.platform, old.device
            columns[old.minor] = Column(old.minor, old.minor, old.torch, *where, instruments=old.instruments)
            cells.update(_keyed(old.minor, recorded_cells(old, clauses)))
    for key, group in fresh.items():
        columns[key] = _run_column(key, group, recorded)
        for run in group:
            cells.update(_keyed(key, run_cells(run, clauses)))
    if not columns:
        raise BadInput(
            "reports",
            "",
            "nothing is recorded and no run file was given",
            "run the suite: python -m pytest",
        )
    modes = sorted({mode for _, _, mode in cells}, key=lambda mode: (mode != "eager", mode)) or ["eager"]
    ordered = tuple(sorted(columns.values(), key=lambda column: (column.version, column.this_run, column.key)))
    return Atlas(suite, clauses, ordered, tuple(modes), cells)


def newest_table(table: Table, runs: Iterable[Run]) -> tuple[str, Mapping[str, Any]]:
    """Return the suite and the clause table of the newest text: a run's wins over a recording of the same suite."""
    suite, clauses = table.suite, dict(table.clauses)
    for run in sorted(runs, key=lambda run: (Version(run.header["suite"]), run.header["began"])):
        if Version(run.header["suite"]) >= Version(suite):
            suite = run.header["suite"]
            clauses.update(run.clauses)
        else:
            clauses = {**run.clauses, **clauses}
    return suite, dict(sorted(clauses.items()))


def recorded_cells(recorded: Recorded, clauses: Mapping[str, Any]) -> dict[Key, Cell]:
    """Return the recorded cells of the clauses, those of an older text as unseen."""
    return {
        (clause, mode): _cell(found, clauses[clause])
        for clause, modes in recorded.cells.items()
        if clause in clauses
        for mode, found in modes.items()
    }


def run_cells(run: Run, clauses: Mapping[str, Any]) -> dict[Key, Cell]:
    """Return the cells of a run, those of an older text as unseen."""
    return {
        (clause, mode): _cell(_named(run, clause, cell, clauses[clause]), clauses[clause])
        for (clause, mode), cell in run.cells.items()
        if clause in clauses
    }


def _named(run: Run, clause: str, cell: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    own = run.clauses[clause]
    return renamed({"note": cell["note"], **entry(cell, own["digest"])}, own, now)


def in_force(clause: Mapping[str, Any], version: Version) -> str | None:
    """Return the name of the reading that the clause claims for a torch version."""
    for reading in clause["readings"]:
        if reading["torch"] != "never" and admits(reading["torch"], version.base_version):
            return reading["name"]
    return None


@functools.cache
def admits(versions: str, version: str) -> bool:
    """Return whether a range such as ">=2.0" has a version in it; "never" is no range."""
    return SpecifierSet(versions).contains(version, prereleases=True)


def is_claim(clause: Mapping[str, Any]) -> bool:
    """Say whether the clause asks if a claim is true: then the names of its readings begin so."""
    return {truth(reading["name"]) for reading in clause["readings"]} <= {"true", "false"}


def truth(reading: str | None) -> str:
    """Return "true" or "false" for a reading of a claim, which may be "false since 1.8"."""
    return (reading or "").partition(" ")[0]


def varies(clause: Mapping[str, Any]) -> bool:
    """Say whether torch changed on purpose: more than one reading is in force somewhere."""
    return sum(reading["torch"] != "never" for reading in clause["readings"]) > 1


def _cell(found: Mapping[str, Any], clause: Mapping[str, Any]) -> Cell:
    if found["digest"] != clause["digest"]:
        return Cell("unseen", note=OLDER_TEXT)
    if len(found) == PLAIN:
        return _plain_cell(found["verdict"], found["reading"])
    return Cell(
        verdict=found["verdict"],
        reading=found["reading"],
        declared=found.get("declared", False),
        holds=tuple(found.get("holds", ())),
        note=found.get("note", ""),
        evidence=found.get("evidence"),
        deviation=found.get("deviation"),
    )


@functools.cache
def _plain_cell(verdict: str, reading: str | None) -> Cell:
    """Return the cell of which no more is known, the same one each time: most of a million cells are such."""
    return Cell(verdict, reading)


def _keyed(key: str, cells: Mapping[Key, Cell]) -> dict[tuple[str, str, str], Cell]:
    return {(clause, key, mode): cell for (clause, mode), cell in cells.items()}


def _grouped(runs: list[Run]) -> dict[str, list[Run]]:
    """Group the runs by column, refusing those that merge would not join."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run_key(run), []).append(run)
    for group in groups.values():
        check_group(group)
    return groups


def _run_column(key: str, group: list[Run], recorded: list[Recorded]) -> Column:
    run = group[0]
    header = run.header
    release = is_release(run.version)
    nearest = None if key in {old.minor for old in recorded} else _nearest(run.version, recorded)
    return Column(
        key=key,
        label=f"{key} (this run)",
        torch=run.version.public if release else header["torch"],
        python=header["python"],
        platform=header["platform"],
        device=header["device"],
        this_run=True,
        nearest=nearest,
        unfinished=sum(len(each.missing) for each in group),
        instruments=header.get("instruments"),
    )


def _nearest(version: Version, recorded: list[Recorded]) -> str | None:
    """Return the newest recorded release that is not newer than the version, or the oldest there is."""
    if not recorded:
        return None
    older = [old for old in recorded if old.version.release[:2] <= version.release[:2] and old.version <= version]
    return (older[-1] if older else recorded[0]).minor
