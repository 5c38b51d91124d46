"""What differs between some releases of torch for the hooks that code uses: the computing behind the verb `affects`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fixtures.clause.clause import EFFECTS
from fixtures.clause.matters_if import DICTS as DICT_KINDS
from fixtures.clause.matters_if import NEVER, SEEN, UNSEEN
from reports.data.atlas import Atlas, Column
from reports.data.cell import Cell
from reports.data.clause import Clause
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import Statement, effect_between, kind_of_change, statement
from reports.usage.lacks import Lacking
from reports.usage.stated import CASES
from reports.usage.uses import Code, Use

#: Of an API that a release lacks: it comes before the name of the API, where other findings name a clause.
MISSING = "missing."


@dataclass(frozen=True)
class AffectedSpan:
    """Neighbouring releases on which a clause says the same."""

    first: str
    last: str
    said: Statement


@dataclass(frozen=True)
class Finding:
    """One difference, and the uses that it concerns; `open` are the words that code does not decide."""

    clause: str
    says: str
    spans: tuple[AffectedSpan, ...]
    uses: tuple[Use, ...]
    instead: str = ""
    open: tuple[str, ...] = ()
    dropped: bool = False  # what is missing was there on an older release
    mode: str = ""  # it is otherwise there than in eager, and its spans are the releases on which it is

    @property
    def when(self) -> str:
        """Who meets it: "upgrade", where a newer release breaks or changes it, else "older"; "mode", of a mode."""
        if self.mode:
            return "mode"
        if self.clause.startswith(MISSING):
            return "upgrade" if self.dropped else "older"
        kinds = {kind_of_change(one.said, other.said) for one, other in pairwise(self.spans)}
        return "older" if kinds & {"fixed", "added"} and not kinds & {*EFFECTS} else "upgrade"

    @property
    def rank(self) -> int:
        """How bad the worst is that it does: its place in EFFECTS."""
        if self.clause.startswith(MISSING):
            return EFFECTS.index("error")
        eager = [Statement("as in eager", "holds")] if self.mode else []
        return EFFECTS.index(effect_between([*eager, *(span.said for span in self.spans)]))

    @property
    def words(self) -> list[str]:
        """The finding as lines, the worst first: of the clause, or of a reading where that is true on all sides."""
        where: dict[tuple[int, str], list[str]] = {}
        for span in self.spans:
            key = (EFFECTS.index(span.said.effect), span.said.detail or span.said.says)
            where.setdefault(key, []).append(from_to(span.first, span.last))
        worst = min(where, key=lambda one: one[0])
        first = f"{EFFECTS[self.rank]}, {' and '.join(where.pop(worst))}: {worst[1]}"
        return [first, *(f"{' and '.join(on)}: {text}" for (_, text), on in where.items())]

    @property
    def condition(self) -> str:
        """What it hangs on, in words."""
        unseen = {**UNSEEN, **CASES}
        return " and ".join(unseen[word[1:]] if word[0] == "?" else SEEN[word] for word in self.open)


@dataclass
class Counts:
    """How many clauses there are, and differ between the first and the last release, as the verb `diff` counts them.

    `new` are those of `differ` that are about an API that the first release lacks; `passing` come and go between.
    """

    clauses: int = 0
    differ: int = 0
    new: int = 0
    passing: int = 0

    def add(self, clause: Clause, cells: Sequence[Cell]) -> None:
        """Count a clause; not claims of tutorials."""
        known = [cell for cell in cells if cell.verdict != "unseen"]
        if clause.is_claim or not known:
            return
        self.clauses += 1
        first, last = known[0], known[-1]
        if first.state != last.state:
            self.differ += 1
            self.new += kind_of_change(statement(clause, first), statement(clause, last)) == "added"
        else:
            self.passing += any(cell.state != first.state for cell in known)


@dataclass(frozen=True)
class Unmeasured:
    """An API of which nothing was measured in a mode on these releases, and its uses."""

    api: str
    on: str
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Affected:
    """The answer; that of a mode says what was assumed of it, and what of the code was not measured."""

    path: str
    columns: tuple[Column, ...]
    why: str
    counts: Counts
    code: Code
    findings: tuple[Finding, ...]
    unsure: tuple[Finding, ...]
    listed: bool = False  # what is unsure is listed, and not only counted
    mode: str = ""
    assumed: tuple[str, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()


def spans(clause: Clause, cells: Sequence[tuple[Column, Cell]]) -> tuple[AffectedSpan, ...]:
    """Return the runs of releases on which a clause says the same; what is absent or was not run says nothing."""
    seen = [(column, cell) for column, cell in cells if cell.verdict not in ("absent", "unseen")]
    runs = neighbours(seen, key=lambda one: one[1].state)
    return tuple(AffectedSpan(run[0][0].label, run[-1][0].label, statement(clause, run[-1][1])) for _, run in runs)


def concerned(matters_if: str, use: Use) -> tuple[str, ...] | None:
    """Return the words that this use leaves open, none where all are met; None where it does not concern the use."""
    kinds, *words = matters_if.split()
    kind = use.kinds & {*kinds.split("|")}
    words += kind & {*DICT_KINDS}
    if not kind or any(use.seen.get(word) is False for word in words):
        return None
    return tuple(word for word in words if word not in use.seen)


def affects(atlas: Atlas, columns: tuple[Column, ...], code: Code, table: Lacking, path: str, why: str) -> Affected:
    """Return what differs between some releases for the uses in some code."""
    on = {use: [column for column in columns if not code.guards.shut(use.guards, column.version)] for use in code.uses}
    found = [*_missing(columns, code, table, on)]
    counts = Counts()
    for name, clause in atlas.clauses.items():
        cells = {column: atlas.cell(name, column, atlas.modes[0]) for column in columns}
        counts.add(clause, [*cells.values()])
        if len(spans(clause, [*cells.items()])) < 2:
            continue
        groups: dict[tuple[Any, ...], list[Use]] = {}
        for use in code.uses if clause.matters_if not in ("", NEVER) else ():
            left = concerned(clause.matters_if, use)
            if left is not None and not code.accepts(use, name):
                mine = spans(clause, [(column, cells[column]) for column in on[use]])
                groups.setdefault((left, mine), []).append(use)
        for (left, mine), uses in groups.items():
            if len(mine) > 1:
                found.append(Finding(name, clause.says, mine, tuple(uses), clause.instead, left))
    found.sort(key=lambda one: (one.rank, one.clause, one.uses))
    sure, unsure = (tuple(one for one in found if bool(one.open) is hangs) for hangs in (False, True))
    return Affected(path, columns, why, counts, code, sure, unsure)


def _missing(
    columns: Sequence[Column], code: Code, table: Lacking, on: Mapping[Use, list[Column]]
) -> Iterator[Finding]:
    """Yield what the code uses and a release does not have, once for each API; what is guarded there is not used."""
    found: dict[tuple[str, str], dict[Use, list[Column]]] = {}
    for use in code.uses:
        api = table.name(use)
        there = on[use]
        for option in ("", *use.options):
            name = _named(api, option)
            lacking = [column for column in there if table.has(api, option, column.version) is False]
            if lacking and not use.caught and not code.accepts(use, name, MISSING + name):
                found.setdefault((api, option), {})[use] = lacking
            if not option:  # what an option needs is reported with the API
                there = [column for column in there if column not in lacking]
    for (api, option), uses in found.items():
        name = _named(api, option)
        has = [table.has(api, option, column.version) is not False for column in columns]
        says = Statement(f"torch has no {name}", "absent", "error")
        runs = neighbours(columns, key=lambda column: any(column in lacking for lacking in uses.values()))
        mine = tuple(AffectedSpan(run[0].label, run[-1].label, says) for lacks, run in runs if lacks)
        since = table.since(api, option)
        ask = f"ask for torch>={since} in the metadata, or " if since else ""
        what = f"give {option}=" if option else "use it"
        instead = f"{ask}{what} only where torch has it."
        yield Finding(MISSING + name, says.says, mine, tuple(uses), instead, dropped=has != sorted(has))


def unread_options(columns: Sequence[Column], code: Code, table: Lacking) -> list[str]:
    """Return the places where options are handed on that code does not show, and some release lacks one."""
    found = []
    for use in (each for each in code.uses if each.unsure and not each.caught):
        api = table.name(use)
        runs = [column.version for column in columns if not code.guards.shut(use.guards, column.version)]
        runs = [each for each in runs if table.has(api, "", each) is not False]
        some = sorted({option for known, option in table.lacking if known == api and option} - {*use.options})
        lacking = [option for option in some if any(table.has(api, option, each) is False for each in runs)]
        if lacking and not code.accepts(use, MISSING + api, *(MISSING + _named(api, each) for each in lacking)):
            words = f"not every release has {', '.join(f'{each}=' for each in lacking)}"
            found.append(f"{use.place}: the options that {api} is given cannot be read; {words}")
    return found


def _named(api: str, option: str) -> str:
    return f"{api}({option}=)" if option else api
