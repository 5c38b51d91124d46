"""What an upgrade of torch changes: the clauses that are not the same on two torches, worst first, and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reports.data.atlas import UNSEEN, including, recorded_cells, run_cells
from reports.data.cell import Cell
from reports.data.claims import sentences
from reports.data.clause import Clause, Clauses
from reports.data.names import did_you_mean, near, recorded_as, unknown
from reports.data.neighbours import neighbours
from reports.data.order import order, rank
from reports.data.runfile import Run, read_run
from reports.data.statements import KINDS, Statement, kind_of_change, statement
from reports.data.strict import BadInput
from reports.data.table import Table
from reports.data.verdicts import Recorded
from reports.verbs.choice import Choice, everything

USUAL = "eager"


@dataclass(frozen=True)
class Side:
    """One cell and what the clause says in it."""

    cell: Cell
    statement: Statement


@dataclass(frozen=True)
class Change:
    """One cell that is not the same on both sides; `since` is the first release with what is there on the second.

    It is "" where that is not known, and "≤2.1" where releases before it were not measured. `back` says that the second
    side is the older one: then it is the last such release.
    """

    clause: str
    mode: str
    to_mode: str
    record: Clause
    before: Side
    after: Side
    since: str = ""
    back: bool = False

    @property
    def kind(self) -> str:
        """What the change is to someone who upgrades: one of KINDS."""
        return kind_of_change(self.before.statement, self.after.statement)


@dataclass(frozen=True)
class Passing:
    """A clause that is the same on both sides and otherwise on releases between them: (first, last, what is there)."""

    clause: str
    mode: str
    record: Clause
    ends: Side
    inside: tuple[tuple[str, str, Side], ...]

    @property
    def kind(self) -> str:
        """The worst that a release between the two is to someone who comes from one of them."""
        kinds = {kind_of_change(self.ends.statement, side.statement) for _, _, side in self.inside}
        return min(kinds, key=list(KINDS).index)


@dataclass(frozen=True)
class Diff:
    """All changes from one torch to another, worst first, and what could not be compared."""

    before: str
    after: str
    changes: tuple[Change, ...]
    passing: tuple[Passing, ...]
    same: int
    unseen: int
    left_out: int
    #: Of those that are the same: what only one side does where the sentence promises nothing, and of how many clauses.
    besides: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Torch:
    """One torch and its cells of one mode, by clause; its name in words, and the one that it has between others."""

    name: str
    key: str
    cells: Mapping[str, Cell]


def compare(
    first: str,
    second: str,
    table: Table,
    recorded: Sequence[Recorded],
    mode: str | None = None,
    to_mode: str | None = None,
    choose: Callable[[Clauses], Choice] = everything,
) -> Diff:
    """Compare two sides, each a minor version or a run file, each in one mode.

    `mode` is that of the first side, and of the second one where `to_mode` is not named. Where none is named, it is the
    mode of a run file that has only one, or else eager.
    """
    sides = side_named(first, recorded), side_named(second, recorded)
    table = including(table, [side for side in sides if isinstance(side, Run)])
    clauses = sentences(table.clauses)
    table = replace(table, clauses={**table.clauses, **clauses})
    choice = choose(clauses)
    chosen = set(choice.clauses)
    own = [_only_mode(side) for side in sides]
    modes = mode or own[0] or own[1] or USUAL, to_mode or mode or own[1] or own[0] or USUAL
    known = sorted({USUAL, *(each for side in sides for each in _modes(side))})
    for asked in modes:
        if asked not in known:
            raise unknown("mode", asked, known, f"measured are {', '.join(known)}")
    plain = modes == (USUAL, USUAL)
    before, after = (_torch(side, table, each, plain) for side, each in zip(sides, modes, strict=True))
    alone = modes[0] != modes[1]  # what lies between two modes is no release
    between = [] if alone else [_torch(each, table, modes[0]) for each in _between(sides, recorded)]
    changes: list[Change] = []
    passing: list[Passing] = []
    same = unseen = 0
    besides: Counter[str] = Counter()
    back = sides[0].version > sides[1].version
    for clause in [name for name in {**before.cells, **after.cells} if name in chosen]:
        old, new = before.cells.get(clause, UNSEEN), after.cells.get(clause, UNSEEN)
        if "unseen" in (old.verdict, new.verdict):
            unseen += 1
            continue
        record = clauses[clause]
        path = [(each.key, each.cells.get(clause, UNSEEN)) for each in between]
        if old.state == new.state:
            same += 1
            besides.update({one.text for one in {*old.besides} ^ {*new.besides}})
            inside = tuple(_inside(record, path, old))
            if inside:
                passing.append(Passing(clause, modes[0], record, _side(record, old), inside))
        else:
            since = "" if alone else _since([*path, (after.key, new)], new)
            changes.append(Change(clause, *modes, record, _side(record, old), _side(record, new), since, back))
    changes.sort(key=_worst_first)
    passing.sort(key=_worst_first)
    return Diff(
        before.name,
        after.name,
        tuple(changes),
        tuple(passing),
        same,
        unseen,
        choice.left_out,
        dict(besides.most_common()),
    )


def _worst_first(one: Change | Passing) -> tuple[Any, ...]:
    return list(KINDS).index(one.kind), rank(one.record), order(one.record), one.mode


def _side(clause: Clause, cell: Cell) -> Side:
    return Side(cell, statement(clause, cell))


def _between(sides: tuple[Recorded | Run, Recorded | Run], recorded: Iterable[Recorded]) -> list[Recorded]:
    """Return the recorded releases strictly between two torches, on the way from the first to the second."""
    low, high = sorted(side.version for side in sides)
    found = [each for each in recorded if low < each.version < high]
    return found if sides[0].version == low else found[::-1]


def _since(path: list[tuple[str, Cell]], new: Cell) -> str:
    """Return the first release from which on all is as at the end of the path; "≤" where it may be one before."""
    first = len(path) - 1
    while first > 0 and path[first - 1][1].state == new.state:
        first -= 1
    unsure = first > 0 and path[first - 1][1].verdict == "unseen"
    return "≤" * unsure + path[first][0]


def _inside(clause: Clause, path: list[tuple[str, Cell]], ends: Cell) -> Iterable[tuple[str, str, Side]]:
    """Yield the neighbouring releases that are alike and not as both ends are."""
    if all(cell is ends for _, cell in path):  # as most are: cells of which no more is known are one object
        return
    for there, found in neighbours(path, lambda pair: pair[1].state):
        (first, cell), (last, _) = found[0], found[-1]
        if cell.verdict != "unseen" and there != ends.state:
            yield first, last, _side(clause, cell)


def _modes(side: Recorded | Run) -> set[str]:
    if isinstance(side, Run):
        return {mode for _, mode in side.cells}
    return {mode for found in side.cells.values() for mode in found}


def _only_mode(side: Recorded | Run) -> str:
    """Return the mode of a run file that has only one, else ""."""
    modes = _modes(side) if isinstance(side, Run) else set()
    return modes.pop() if len(modes) == 1 else ""


def side_named(name: str, recorded: Sequence[Recorded]) -> Recorded | Run:
    """Return the recorded release or the run file of that name. Raises BadInput."""
    known = [old.minor for old in recorded]
    place = recorded_as(name, [(old.minor, old.torch) for old in recorded])
    if place is not None:
        return recorded[place]
    path, plain = Path(name), name.removeprefix("torch")
    listed = ", ".join(known) or "none"
    if path.exists() or (path.suffix and not name.replace(".", "").isdigit()):
        return read_run(path)
    if path.suffix or near(plain, known):
        hint = did_you_mean(plain, known) or f"take one of {listed}, or a run file"
        raise BadInput(name, "", "no such version is recorded", hint)
    raise BadInput(name, "", "is neither a recorded version nor a run file", f"recorded are {listed}")


def _torch(side: Recorded | Run, table: Table, mode: str, plain: bool = False) -> _Torch:
    """Return a torch in one mode, which is a part of its name unless it is `plain`."""
    if isinstance(side, Run):
        name, key, cells = f"{side.measured} (this run)", side.measured, run_cells(side, table)
    else:
        name, key, cells = side.torch, side.minor, recorded_cells(side, table)
    chosen = {clause: cell for (clause, each), cell in cells.items() if each == mode}
    return _Torch(name if plain else f"{name}, {mode}", key, chosen)
