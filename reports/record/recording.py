"""Recording: what the committed verdicts would become, whether that is a change, and writing it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fixtures.run.naming import REPORTS
from reports.data.atlas import including
from reports.data.cell import BROKEN
from reports.data.clause import Clauses
from reports.data.runfile import Run
from reports.data.strict import BadInput
from reports.data.table import Table
from reports.data.verdicts import VERDICTS, Recorded, from_runs, read_recorded, read_table, write_recorded
from reports.record.comparing import CellChange, by_release, differences
from reports.record.restamping import restamped, with_cells

#: What a recording refuses unless it is accepted by its word.
ACCEPTS = {
    "undeclared": "deviations, crashes and hangs that nobody declared",
    "build": "another build of a release than the recorded one",
    "part": "a new release of which only some clauses were run",
}


@dataclass(frozen=True)
class Recording:
    """What a recording would write, and what is there now."""

    before: Mapping[str, Recorded]
    after: tuple[Recorded, ...]
    table: Table
    #: The clauses as the suites have them; those of a run may be others.
    suites: Clauses
    #: Clauses that are dropped on every release.
    gone: tuple[str, ...] = ()
    #: Clauses whose older measurements stay good for their new text.
    restamped: tuple[str, ...] = ()
    #: Why those of other clauses do not.
    unproven: tuple[str, ...] = ()

    def changes(self) -> Iterator[CellChange]:
        """Yield the cells that the recording would change."""
        for new in self.after:
            old = self.before.get(new.minor)
            cells = _without(old, self.gone).cells if old else {}
            yield from differences(new.minor, cells, new.cells, self.table)

    def undeclared(self) -> list[CellChange]:
        """Return the changed cells that deviate, crash or hang although nobody declared it."""
        return [one for one in self.changes() if one.after and one.after.verdict in BROKEN and not one.after.declared]

    def builds(self) -> list[Recorded]:
        """Return what would be recorded of another build than the recorded one of the same release."""
        pairs = [(new, self.before.get(new.minor)) for new in self.after]
        return [new for new, old in pairs if old and old.torch == new.torch and old.build and new.build != old.build]

    def check(self, accepted: Iterable[str] = ()) -> None:
        """Raise BadInput for what is recorded only when its word is among the accepted ones."""
        found = self.undeclared() if "undeclared" not in accepted else []
        if found:
            fault = f"{found[0]} and {len(found) - 1} more" if len(found) > 1 else str(found[0])
            hint = "declare it in suites/deviations.py, or record it with --accept undeclared"
            raise BadInput("record", "", f"not declared: {fault}", hint)
        for new in self.builds() if "build" not in accepted else []:
            fault = f"is of the build {new.build or 'unknown'}, and {self.before[new.minor].build} is recorded"
            raise BadInput("record", "", f"this torch {new.torch} {fault}", "give it to check, or add --accept build")

        for new in self.after if self.before and "part" not in accepted else []:
            missing = self.suites.keys() - new.cells.keys()
            if missing and new.minor not in self.before:
                fault = f"torch {new.minor} is not recorded yet, and {len(missing)} of its clauses were not run"
                raise BadInput("record", "", fault, "run them all, or add --accept part")

    def outdated(self) -> dict[str, int]:
        """Return how many cells of each torch are of another text than their clause has in the suites."""
        found = {}
        for name, each in self.everything.items():
            cells = ((clause, cell) for clause, modes in each.cells.items() for cell in modes.values())
            found[name] = sum(
                clause in self.suites and cell.digest != self.suites[clause].digest for clause, cell in cells
            )
        return {name: count for name, count in found.items() if count}

    @property
    def everything(self) -> dict[str, Recorded]:
        """What will be recorded, of all releases."""
        both = {**self.before, **{new.minor: new for new in self.after}}
        return {name: _without(each, self.gone) for name, each in both.items()}

    def write(self, folder: Path) -> list[Path]:
        """Write what has changed, and return these files; everything was validated before the first one is touched."""
        beyond = {name: one.beyond for name, one in self.table.clauses.items() if one.beyond is not None}
        return write_recorded(self.everything.values(), folder, beyond)


def prepared(
    runs: Iterable[Run], folder: Path = VERDICTS, *, replace: bool = False, gone: bool = False, restamp: bool = False
) -> Recording:
    """Return what recording these runs would write; recorded cells that they do not hold stay, unless replaced.

    With `gone`, clauses that the suites do not have are dropped on every release.
    With `restamp`, what other releases have of an older text of a clause counts for its new one: see `restamping.py`.
    """
    runs = [_whole(run) for run in runs]
    for run in runs:
        if run.target:
            hint = f"record it as a target: {REPORTS} record --target NAME {run.path}"
            raise BadInput(run.path, "", f"is of {run.measured}: only releases are recorded as such", hint)
    suites = read_table(folder)
    table = including(suites, runs)
    before = {old.minor: old for old in read_recorded(folder)}
    table = _tested(table, runs, before.values())
    groups = by_release(runs)
    for run in (run for group in groups.values() for run in group):
        _check_recordable(run)
    fresh = {name: from_runs(group, table) for name, group in groups.items()}
    after = {}
    for name, new in fresh.items():
        old = before.get(name)
        after[name] = _added(_rest(old, new) if replace else old, new) if old else new
    stamped: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    if restamp:
        stamped, others, unproven = restamped(before, fresh, table.clauses)
        for minor, cells in others.items():
            after[minor] = with_cells(after.get(minor, before[minor]), cells)
    held = {clause for each in before.values() for clause in each.cells}
    dropped = tuple(sorted(held - table.clauses.keys())) if gone else ()
    fresh_ones = tuple(_without(new, dropped) for new in after.values())
    return Recording(before, fresh_ones, table, suites.clauses, dropped, stamped, unproven)


def _tested(table: Table, runs: Iterable[Run], before: Iterable[Recorded]) -> Table:
    """Return the table with the words of a usual program that runs of the newest release were tested beyond."""
    found = dict(table.clauses)
    newest = max((old.version.release[:2] for old in before), default=(0,))
    for run in runs:
        for (name, mode), line in run.lines.items() if run.version.release[:2] >= newest else ():
            same = found[name].digest == run.clauses[name].digest
            if mode == "eager" and same and line.get("beyond") is not None:
                found[name] = found[name].tested(line["beyond"])
    return dataclasses.replace(table, clauses=found)


def _without(old: Recorded, gone: Iterable[str]) -> Recorded:
    return replace(old, cells={clause: modes for clause, modes in old.cells.items() if clause not in set(gone)})


def _rest(old: Recorded, new: Recorded) -> Recorded:
    """Return what a run does not replace: the other modes, except of clauses that are gone: a run in eager has all."""
    ran = {mode for modes in new.cells.values() for mode in modes}
    cells = {
        clause: {mode: cell for mode, cell in modes.items() if mode not in ran}
        for clause, modes in old.cells.items()
        if clause in new.cells or "eager" not in ran
    }
    return replace(old, cells={clause: modes for clause, modes in cells.items() if modes})


def _added(old: Recorded, new: Recorded) -> Recorded:
    cells = {clause: dict(modes) for clause, modes in old.cells.items()}
    for clause, modes in new.cells.items():
        cells.setdefault(clause, {}).update(modes)
    return replace(new, cells=cells)


def _whole(run: Run) -> Run:
    """Return a run without its cells of a few plans: what is recorded of a mode comes from all that a clause draws."""
    return replace(run, lines={key: line for key, line in run.lines.items() if run.cells[key].few is None})


def _check_recordable(run: Run) -> None:
    header = run.header
    if header["profile"] != "recorded":
        fault = f"was run with the profile {header['profile']}, whose plans are others each time"
        raise BadInput(run.path, "", fault, "run the suite with --profile recorded, or give this run to check")
    if header["device"] != "cpu":
        hint = "run with --device cpu, or give it to check, page or diff"
        raise BadInput(run.path, "", f"was run on the device {header['device']}: only the CPU is recorded", hint)
