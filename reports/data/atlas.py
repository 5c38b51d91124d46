"""The atlas: all committed verdicts and the given runs, merged; the page and every later view read only this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from packaging.version import Version

from fixtures.judge.unplayed import NEEDS, NO_PLAN
from fixtures.run.naming import READERS, RUN
from reports.data.cell import BROKEN, Cell, Key
from reports.data.claims import answers, sentences
from reports.data.clause import Clause, Clauses, need
from reports.data.forms import counted
from reports.data.merge import check_group, settled
from reports.data.runfile import Run, is_release, run_key
from reports.data.strict import BadInput
from reports.data.table import Table
from reports.data.verdicts import Recorded
from reports.data.within import within
from reports.data.wording import kept, worded

VERDICT_NAMES = ("conforms", "deviates", "crashed", "hung", "refused", "absent", "unseen")
OLDER_TEXT = "recorded with an older text of the clause"
NOT_RUN = "not run here"
SOME = "{} played here, without a failure"


UNSEEN = Cell("unseen", note=NOT_RUN)
OUTDATED = Cell("unseen", note=OLDER_TEXT)


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
    hypothesis: str | None = None
    #: Who is measured, where that is more than a release on the CPU.
    target: str = ""

    @property
    def measured(self) -> str:
        """The torch, or the words of a target."""
        return self.target or self.torch

    @property
    def version(self) -> Version:
        """The torch version, by which columns are sorted."""
        return Version(self.torch)

    @property
    def head(self) -> str:
        """The words above it."""
        return self.key.removesuffix(" run")


@dataclass(frozen=True)
class Atlas:
    """Clauses, columns and the cells between them, keyed clause, column key, mode."""

    suite: str
    clauses: Clauses
    columns: tuple[Column, ...]
    modes: tuple[str, ...]
    cells: Mapping[tuple[str, str, str], Cell]
    #: What only compares whole plans with the model: its cells are evidence, its sentences say nothing to a user.
    checks: Clauses = field(default_factory=dict)

    @cached_property
    def measured(self) -> Clauses:
        """All clauses that may have cells."""
        return {**self.clauses, **self.checks}

    @cached_property
    def came(self) -> dict[tuple[str, str], int]:
        """The place of the first column that has an API, or an option of it, of all that clauses need."""
        found: dict[tuple[str, str], int] = {}
        needing = [clause for clause in self.clauses.values() if clause.needs]
        for at in reversed(range(len(self.columns))):
            for clause in needing:
                if self.cell(clause.id, self.columns[at], self.modes[0]).verdict not in ("absent", "unseen"):
                    found.update(dict.fromkeys(map(need, clause.needs), at))
        return found

    def cell(self, clause: str, column: Column, mode: str) -> Cell:
        """Return the cell, unseen where nothing was run."""
        return self.cells.get((clause, column.key, mode), UNSEEN)

    def asked(self, clause: str, column: Column, mode: str) -> bool:
        """Say whether a column answers for a clause: a run does for what was run in it, next to what is recorded."""
        return not column.this_run or (clause, column.key, mode) in self.cells

    @property
    def focus(self) -> Column:
        """The column that the page speaks of first: this run where there is one, otherwise the newest torch."""
        runs = [column for column in self.columns if column.this_run]
        return (runs or list(self.columns))[-1]

    @cached_property
    def newest(self) -> tuple[Column, ...]:
        """The columns that answer for the torch in focus: a run, and behind it the record for what the run lacks."""
        recorded = [column for column in self.columns if not column.this_run]
        own = [column for column in recorded if column.key in (self.focus.head, self.focus.nearest)]
        return tuple(dict.fromkeys((self.focus, *(own or recorded)[-1:])))

    def measured_in(self, mode: str, columns: Iterable[Column]) -> tuple[Column, ...]:
        """Return the columns on which any clause was run in a mode: of the others nothing is known in it."""
        known = {key for _, key, other in self.cells if other == mode}
        return tuple(column for column in columns if column.key in known)

    def counts(self, column: Column, mode: str | None = None) -> dict[str, int]:
        """Return how often each verdict is in a column, in the order of VERDICT_NAMES."""
        chosen = mode or self.modes[0]
        counts = Counter(self.cell(clause, column, chosen).verdict for clause in self.clauses)
        return {verdict: counts[verdict] for verdict in VERDICT_NAMES if counts[verdict]}


def undeclared(atlas: Atlas, column: Column) -> int:
    """Return how many cells of a column deviate although nobody declared it."""
    return sum(atlas.cell(clause, column, mode).new for clause in atlas.clauses for mode in atlas.modes)


def build(table: Table, recorded: Iterable[Recorded], runs: Iterable[Run] = (), *, failing: bool = False) -> Atlas:
    """Merge everything into one atlas; with `failing` also the checks of the model that fail in a run."""
    recorded, runs = list(recorded), list(runs)
    table = including(table, runs)
    failed: set[str] = set()
    for run in runs if failing else ():
        failed |= {clause for (clause, _), cell in run.cells.items() if cell.verdict in BROKEN and not cell.declared}
    clauses = sentences(table.clauses, failed)
    checks = {name: one for name, one in table.clauses.items() if name not in clauses}
    table = replace(table, clauses={**clauses, **checks})
    columns: dict[str, Column] = {}
    cells: dict[tuple[str, str, str], Cell] = {}
    fresh = _grouped(runs)
    for old in recorded:
        names = ("torch", "python", "platform", "device", "instruments", "hypothesis")
        columns[old.minor] = Column(old.minor, old.minor, **{name: getattr(old, name) for name in names})
        cells.update(_keyed(old.minor, recorded_cells(old, table)))
    for name, group in fresh.items():
        column = _run_column(name, group, recorded)
        columns[column.key] = column
        for run in group:
            cells.update(_keyed(column.key, run_cells(run, table)))
    if not columns:
        raise BadInput(
            READERS,
            "",
            "nothing is recorded and no run file was given",
            f"run the suite: {RUN}",
        )
    modes = sorted({mode for _, _, mode in cells}, key=lambda mode: (mode != "eager", mode)) or ["eager"]
    ordered = tuple(sorted(columns.values(), key=lambda column: (column.version, column.this_run, column.key)))
    return Atlas(table.suite, clauses, ordered, tuple(modes), cells, checks)


def including(table: Table, runs: Iterable[Run]) -> Table:
    """Return the table with the clauses of runs that it does not have, or has with other digests.

    What such a run says then counts, unless its suite is older: what is recorded is of another text, and unseen.
    """
    clauses = dict(table.clauses)
    suite = Version(table.suite)
    for run in sorted(runs, key=lambda run: (Version(run.header["suite"]), run.header["began"])):
        for name, clause in run.clauses.items():
            older = Version(run.header["suite"]) < suite
            if name not in clauses or (clauses[name].digest != clause.digest and not older):
                clauses[name] = clause
        suite = max(suite, Version(run.header["suite"]))
    return replace(table, suite=str(suite), clauses=dict(sorted(clauses.items())))


def recorded_cells(recorded: Recorded, table: Table) -> dict[Key, Cell]:
    """Return the recorded cells of the clauses, those of an older text as unseen."""
    version = recorded.version
    found = {
        (clause, mode): _seen(cell, table.clauses[clause], mode, version, table)
        for clause, modes in recorded.cells.items()
        if clause in table.clauses
        for mode, cell in modes.items()
    }
    return {**found, **answers(found, table.clauses)}


def run_cells(run: Run, table: Table) -> dict[Key, Cell]:
    """Return the cells of a run, those of an older text as unseen."""
    version = run.version
    found = {
        (clause, mode): _seen(kept(cell, run.clauses[clause], mode, table), table.clauses[clause], mode, version, table)
        for (clause, mode), cell in run.cells.items()
        if clause in table.clauses
    }
    return {**found, **answers(found, table.clauses)}


def _seen(cell: Cell, clause: Clause, mode: str, version: Version, table: Table) -> Cell:
    """Return a cell in words; unseen where another text was measured, or a mode had no plan, or few, to ask torch with.

    In a mode it is about a usual program and what the sentence names.
    """
    if cell.digest != clause.digest:
        return OUTDATED
    if cell.partial:
        return Cell("unseen", note=SOME.format(counted(cell.few or 0, "plan", "plans")), few=cell.few)
    found = worded(cell, clause, mode, table)
    if found.verdict == "refused" and found.note.startswith((NO_PLAN, NEEDS)):
        return Cell("unseen", note=found.note)
    return within(found, clause, mode, version, table) if clause.id in table.within else found


def _keyed(key: str, cells: Mapping[Key, Cell]) -> dict[tuple[str, str, str], Cell]:
    return {(clause, key, mode): cell for (clause, mode), cell in cells.items()}


def _grouped(runs: list[Run]) -> dict[str, list[Run]]:
    """Group the runs by column, refusing those that merge would not join."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run_key(run), []).append(run)
    for group in groups.values():
        check_group(group)
    return {name: settled(group) for name, group in groups.items()}


def _run_column(name: str, group: list[Run], recorded: list[Recorded]) -> Column:
    run = group[0]
    header = run.header
    release = is_release(run.version)
    nearest = None if name in {old.minor for old in recorded} else nearest_to(run.version, recorded)
    words = run.measured if run.target else ""
    return Column(
        key=f"{name} run",
        label=f"{name} (this run)",
        torch=run.version.public if release else header["torch"],
        python=header["python"],
        platform=header["platform"],
        device=header["device"],
        this_run=True,
        nearest=nearest,
        unfinished=sum(len(each.missing) for each in group),
        instruments=header.get("instruments"),
        hypothesis=header.get("hypothesis"),
        target=words,
    )


def nearest_to(version: Version, recorded: Sequence[Recorded]) -> str | None:
    """Return the newest recorded release that is not newer than the version, or the oldest there is."""
    if not recorded:
        return None
    older = [old for old in recorded if old.version.release[:2] <= version.release[:2] and old.version <= version]
    return (older[-1] if older else recorded[0]).minor
