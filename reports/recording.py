"""Recording: what the committed verdicts would become, whether that is a change, and writing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reports.atlas import newest_table
from reports.runfile import Run
from reports.strict import BadInput
from reports.verdicts import (
    VERDICTS,
    Recorded,
    Table,
    from_runs,
    is_release,
    minor,
    read_recorded,
    read_table,
    write_recorded,
    write_table,
)

Entries = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class CellChange:
    """One cell that a recording would change, and how in words."""

    torch: str
    clause: str
    mode: str
    told: str

    def __str__(self) -> str:
        """Return the change as a line."""
        return f"{self.torch} {self.clause} [{self.mode}]: {self.told}"


@dataclass(frozen=True)
class Recording:
    """What a recording would write, beside what stands there now."""

    before: Mapping[str, Recorded]
    after: tuple[Recorded, ...]
    table: Table

    def changes(self) -> Iterator[CellChange]:
        """Yield the cells that the recording would change."""
        for new in self.after:
            old = self.before.get(new.minor)
            yield from _changes(new.minor, old.cells if old else {}, new.cells)

    def outdated(self) -> dict[str, int]:
        """Return how many cells of the torches not recorded now are of an older text of their clause."""
        now = {new.minor for new in self.after}
        found: dict[str, int] = {}
        for old in self.before.values():
            stale = sum(
                entry["digest"] != self.table.clauses[clause]["digest"]
                for clause, modes in old.cells.items()
                if clause in self.table.clauses
                for entry in modes.values()
            )
            if stale and old.minor not in now:
                found[old.minor] = stale
        return found

    def write(self, folder: Path) -> list[Path]:
        """Write all files; everything was validated before the first one is touched."""
        return [*(write_recorded(new, folder) for new in self.after), write_table(self.table, folder)]


def plan(runs: Iterable[Run], folder: Path = VERDICTS, *, add: bool = False) -> Recording:
    """Return what recording these runs would write; with add, other cells of the same torch are kept."""
    runs = list(runs)
    before = {old.minor: old for old in read_recorded(folder)}
    table = read_table(folder)
    groups: dict[str, list[Run]] = {}
    for run in runs:
        _check_recordable(run)
        groups.setdefault(minor(run.version), []).append(run)
    after = []
    for name, group in groups.items():
        _check_environment(group)
        new = from_runs(group)
        after.append(_added(before[name], new) if add and name in before else new)
    suite, clauses = newest_table(table if add else Table("0", {}), runs)
    return Recording(before, tuple(after), Table(suite, clauses))


def _added(old: Recorded, new: Recorded) -> Recorded:
    cells = {clause: dict(modes) for clause, modes in old.cells.items()}
    for clause, modes in new.cells.items():
        cells.setdefault(clause, {}).update(modes)
    return replace(new, cells=cells)


def _check_recordable(run: Run) -> None:
    header = run.header
    if not is_release(run.version):
        mend = "give it to page or diff: only releases are recorded"
        raise BadInput(run.path, "", f"torch {run.version} is no release", mend)
    if header["profile"] != "recorded":
        mend = "run the suite without --quick and --profile"
        raise BadInput(run.path, "", f"was run with the profile {header['profile']}", mend)
    if header["device"] != "cpu":
        mend = "run with --device cpu, or give it to page or diff"
        raise BadInput(run.path, "", f"was run on the device {header['device']}: only the CPU is recorded", mend)


def _check_environment(group: list[Run]) -> None:
    """Refuse runs of one torch that differ in environment or tell of the same cell."""
    first, told = group[0], {}
    for run in group:
        for name in ("torch", "suite", "platform"):
            if run.header[name] != first.header[name]:
                fault = f"{name} is {run.header[name]}, but {first.header[name]} in {first.path}"
                raise BadInput(run.path, "", fault, "record runs of one environment for one torch")
        for key in run.cells:
            other = told.setdefault(key, run)
            if other is not run:
                fault = f"{key[0]} [{key[1]}] is also told by {other.path}"
                raise BadInput(run.path, "", fault, "give one of the two files")


def _changes(name: str, old: Entries, new: Entries) -> Iterator[CellChange]:
    keys = {(clause, mode) for side in (old, new) for clause, modes in side.items() for mode in modes}
    for clause, mode in sorted(keys):
        before = old.get(clause, {}).get(mode)
        after = new.get(clause, {}).get(mode)
        told = change(before, after)
        if told:
            yield CellChange(name, clause, mode, told)


def change(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return in words what is different between two recorded cells, nothing when they say the same."""
    if before is None or after is None:
        return f"{_entry_words(before)} -> {_entry_words(after)}" if before is not after else ""
    if _entry_words(before) != _entry_words(after):
        return f"{_entry_words(before)} -> {_entry_words(after)}"
    if before["digest"] != after["digest"]:
        return f"{_entry_words(after)}, but the text of the clause has changed since it was recorded"
    if before.get("declared") and _traces(before) != _traces(after):
        return f"{_entry_words(after)}, but with another trace than recorded"
    return ""


def _entry_words(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return "not recorded"
    words = entry["verdict"]
    if entry["reading"] is not None:
        words += f" ({entry['reading']})"
    if entry["verdict"] == "deviates" and not entry.get("declared"):
        words += " undeclared"
    if entry.get("holds"):
        words += f", behaves as {' / '.join(entry['holds'])}"
    return words


def _traces(entry: Mapping[str, Any]) -> tuple[Any, Any]:
    evidence = entry.get("evidence") or {}
    return evidence.get("expected"), evidence.get("observed")
