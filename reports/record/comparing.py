"""Comparing: in which cells a torch is not as it is recorded, and what that means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fixtures.run.naming import REPORTS
from fixtures.run.recorded import by_plans
from fixtures.target.target import KNOWN
from reports.data.atlas import including
from reports.data.cell import Cell, Cells
from reports.data.forms import counted, torch_of
from reports.data.merge import check_group, settled
from reports.data.runfile import Run, is_release, minor
from reports.data.strict import BadInput
from reports.data.table import Table
from reports.data.verdicts import VERDICTS, Recorded, from_runs, read_recorded, read_table
from reports.data.wording import worded

#: In what a cell can be not as recorded, the worst first.
KINDS = ("verdict", "missing", "trace", "text", "new")
#: Who promises what a clause says.
LEVELS = {"documented": "torch documents it", "implied": "torch tests it", "observed": "nobody promises it"}


@dataclass(frozen=True)
class CellChange:
    """One cell that is not as recorded: `kind` is verdict, text, trace, missing or new; `words` say it."""

    torch: str
    clause: str
    mode: str
    kind: str
    level: str
    words: str
    before: Cell | None
    after: Cell | None

    @property
    def weight(self) -> str:
        """What another verdict means: `wrong` where torch itself says what the clause says, else `different`."""
        if self.kind != "verdict":
            return ""
        return "different" if self.level == "observed" else "wrong" if self.level else ""

    def __str__(self) -> str:
        """Return the change as a line."""
        who = f" ({LEVELS[self.level]})" if self.weight else ""
        return f"{self.torch} {self.clause} [{self.mode}]: {self.words}{who}"


#: What a target does otherwise and need not be told of again.
ASIDE = (
    ("more is refused there", "more are refused there"),
    ("more differs as its file says", "more differ as its file says"),
)
#: What a torch breaks that is wrong, and not only different.
PROMISED = "what torch documents or tests"


@dataclass(frozen=True)
class Match:
    """A torch next to a recorded release: for each mode in which it was run how many cells of how many are the same."""

    torch: str
    release: str
    cells: Mapping[str, tuple[int, int]]
    #: How many are recorded in these modes.
    recorded: int = 0
    #: The versions of Hypothesis that drew the plans, where they are two.
    drawn: str = ""
    #: How many of those that differ break what torch documents or tests.
    wrong: int = 0
    #: For each mode in which a few plans of a clause were played: in how many clauses of how many one fails.
    few: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    #: Of a target: how many cells more are refused there, and how many more differ as its file says.
    aside: tuple[int, int] = (0, 0)

    @property
    def words(self) -> str:
        """What is said of somebody's own run in one sentence."""
        same = all(one == all_ for one, all_ in self.cells.values()) and not any(bad for bad, _ in self.few.values())
        modes = [
            f"{one if same else all_ - one} of {all_}" + (" clauses" if mode == "eager" else f" in {mode}")
            for mode, (one, all_) in self.cells.items()
        ]
        modes += [f"{bad} of {all_} in {mode}, by a few plans" for mode, (bad, all_) in self.few.items() if bad]
        does = "does what is recorded" if same else "differs from what is recorded"
        counts = (": " if same else " in ") + ", ".join(modes)
        ran = sum(all_ for _, all_ in self.cells.values()) + sum(self.aside)
        part = f" ({ran} of {self.recorded} were run)" if ran < self.recorded else ""
        wrong = f"; {self.wrong} of them {'breaks' if self.wrong == 1 else 'break'} {PROMISED}" if self.wrong else ""
        quiet = ", ".join(mode for mode, (bad, _) in self.few.items() if not bad)
        few = f"; a few plans were played in {quiet}, without a failure" if quiet else ""
        aside = "".join(f"; {counted(count, *words)}" for count, words in zip(self.aside, ASIDE, strict=True) if count)
        who = torch_of(self.torch)
        who = f"your {who}" if who.startswith("torch ") else who
        return f"{who} {does} of {self.release}{counts}{part}{wrong}{aside}{few}{self.drawn}"


@dataclass(frozen=True)
class Comparison:
    """Runs next to what is recorded of the same releases: how many cells were compared, and which are not the same."""

    cells: int
    recorded: int
    #: The worst first.
    changes: tuple[CellChange, ...]
    #: Profiles other than the recorded one: their plans are others, so their traces are not compared.
    searched: tuple[str, ...]
    matches: tuple[Match, ...]
    #: Whether there are declared deviations in the runs, whose traces would be compared else.
    untraced: bool = False

    @property
    def says(self) -> list[str]:
        """A sentence for each torch, and what was not compared."""
        lines = [one.words for one in self.matches]
        if self.untraced:
            other = f"other plans than the recorded ones (profile {', '.join(self.searched)})"
            lines.append(f"searched with {other}: where torch deviates as declared, calls and values were not compared")
        return lines


def comparison(runs: Iterable[Run], folder: Path = VERDICTS) -> Comparison:
    """Compare runs with what is recorded. Cells that a run was not asked for are not missing."""
    runs = list(runs)
    table = including(read_table(folder), runs)
    before = {old.minor: old for old in read_recorded(folder)}
    changes: list[CellChange] = []
    matches = []
    recorded = 0
    for who, group in by_release(runs).items():
        name = minor(group[0].version)
        if name not in before:
            hint = f"compare it with the nearest release: {REPORTS} diff {_last(before)} {group[0].path}"
            raise BadInput(group[0].path, "", f"torch {name} is not recorded", hint)
        recorded += sum(map(len, before[name].cells.values()))
        found, match = _matched(who, group, before[name], table)
        changes += found
        matches.append(match)
    others = [run for run in runs if run.header["profile"] != "recorded"]
    searched = sorted({run.header["profile"] for run in others})
    untraced = any(cell.declared for run in others for cell in run.cells.values())
    cells = sum(len(run.cells) for run in runs)
    worst_first = tuple(sorted(changes, key=_worst_first))
    return Comparison(cells, recorded, worst_first, tuple(searched), tuple(matches), untraced)


def _matched(name: str, group: list[Run], old: Recorded, table: Table) -> tuple[list[CellChange], Match]:
    """Return where the runs of one release are not as recorded, and how many cells are, by mode.

    A target is not asked all clauses.
    """
    target = group[0].target is not None
    whole = not target and any(map(_is_whole, group))
    new = from_runs(group, table).cells
    ran = {mode for run in group for mode in run.header["modes"]}
    found = {mode: [cells[mode] for cells in new.values() if mode in cells] for mode in sorted(ran)}
    by_few = [mode for mode, cells in found.items() if any(cell.few is not None for cell in cells)]
    modes = sorted(found.keys() - set(by_few), key=lambda mode: (mode != "eager", mode))
    asked = {
        c: {m: e for m, e in known.items() if m in new.get(c, ()) or (whole and m in modes)}
        for c, known in old.cells.items()
    }
    exact = all(run.header["profile"] == "recorded" for run in group)
    changes = [one for one in differences(name, asked, new, table) if exact or one.kind != "trace"]
    changes = [one for one in changes if not _by_plans(one)]
    refused, told = _aside(changes) if target else ([], [])
    changes = [one for one in changes if one not in refused and one not in told]
    keys = {(clause, mode) for side in (asked, new) for clause, found in side.items() for mode in found}
    keys -= {(one.clause, one.mode) for one in (*refused, *told)}
    total, differ = Counter(mode for _, mode in keys), Counter(one.mode for one in changes)
    cells = {mode: (total[mode] - differ[mode], total[mode]) for mode in modes if total[mode] or target}
    few = {mode: (differ[mode], len(found[mode])) for mode in by_few}
    known = sum(mode in modes for each in old.cells.values() for mode in each)
    drawn = _drawn(group[0].header.get("hypothesis"), old)
    wrong = sum(one.weight == "wrong" for one in changes)
    who = group[0].measured if target else group[0].version.public
    return changes, Match(who, old.minor, cells, known, drawn, wrong, few, (len(refused), len(told)))


def _aside(changes: Iterable[CellChange]) -> tuple[list[CellChange], list[CellChange]]:
    """Return what is refused on a target, and what differs as its file says: neither is a change of the release."""
    cells = [(one, one.after) for one in changes]
    refused = [one for one, cell in cells if cell and cell.verdict == "refused"]
    return refused, [one for one, cell in cells if cell and cell.deviation == KNOWN]


def _is_whole(run: Run) -> bool:
    return bool(run.header.get("whole")) and run.header["shard"][1] == 1


def _by_plans(one: CellChange) -> bool:
    was, now = one.before, one.after
    if now is None or was is None:
        return now is not None and now.partial  # of a mode that is not recorded
    return by_plans(one.mode, was.verdict, now.verdict, now.declared, now.few is not None)


def _drawn(version: str | None, old: Recorded) -> str:
    """Say that another Hypothesis drew the plans: on a torch that deviates it may find other failures."""
    if None in (version, old.hypothesis) or version == old.hypothesis:
        return ""
    return f"; drawn with Hypothesis {version}, recorded with {old.hypothesis}: where torch deviates, plans may differ"


def _worst_first(one: CellChange) -> tuple[Any, ...]:
    """Return the place of a change: what breaks a promise of torch, then what was only observed, then all else."""
    absent = one.after is not None and one.after.verdict == "absent"  # it may follow from how torch was changed
    return ["wrong", "different", ""].index(one.weight), KINDS.index(one.kind), absent, one.torch, one.clause, one.mode


def _last(before: Mapping[str, Recorded]) -> str:
    return list(before)[-1] if before else "RELEASE"


def by_release(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Group the runs by minor version, a target by its words, refusing what is no release and two environments."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        if not is_release(run.version):
            fault = f"torch {run.header['torch']} is not a release: only releases are recorded"
            raise BadInput(run.path, "", fault, "give it to page or diff")
        groups.setdefault(run.measured if run.target else minor(run.version), []).append(run)
    for group in groups.values():
        check_group(group)
    return {name: settled(group) for name, group in groups.items()}


def differences(name: str, old: Cells, new: Cells, table: Table) -> Iterator[CellChange]:
    """Yield the cells in which two records of one release differ."""
    keys = {(clause, mode) for side in (old, new) for clause, modes in side.items() for mode in modes}
    for clause, mode in sorted(keys):
        pair = old.get(clause, {}).get(mode), new.get(clause, {}).get(mode)
        kind = _kind(*pair)
        if not kind:
            continue
        known = table.clauses.get(clause)
        before, after = (worded(cell, known, mode, table) if cell and known else cell for cell in pair)
        words = f"recorded: {_words(before, after)}; now: {_words(after, before)}"
        if kind == "text":
            words = f"{_words(after, after)}, but the text of the clause has changed since it was recorded"
        if kind == "trace":
            words = f"{_words(after, after)}, but with another trace than recorded"
        yield CellChange(name, clause, mode, kind, known.level if known else "", words, before, after)


def _kind(before: Cell | None, after: Cell | None) -> str:
    """Return in what two recorded cells differ, "" where they say the same. The readings of another text are others."""
    if before is None or after is None:
        return "" if before is after else "new" if before is None else "missing"
    said = [(cell.verdict, cell.new) for cell in (before, after)]
    if before.digest == after.digest:
        said = [(*own, cell.reading, cell.holds) for own, cell in zip(said, (before, after), strict=True)]
    if said[0] != said[1]:
        return "verdict"
    if before.digest != after.digest:
        return "text"
    return "trace" if before.declared and before.traces != after.traces else ""


def _words(cell: Cell | None, other: Cell | None) -> str:
    """Return what is so, next to what else is: what both have in common is not said, but for the verdict."""
    if cell is None:
        return "nothing"
    words = cell.verdict
    both = other is not None and other.verdict == cell.verdict
    if cell.reading not in (None, "always") and not (other and other.reading == cell.reading):
        words += f" ({cell.reading})"
    if both and other and cell.new != other.new:
        words += " in a way that we did not write down" if cell.new else " as we wrote down"
    if cell.holds:
        words += f", behaves as {' / '.join(cell.holds)}"
    return words
