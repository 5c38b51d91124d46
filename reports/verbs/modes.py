"""Each hook API in each way to run a network, on one release: as in eager, otherwise by which rule, or not measured."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fixtures.families import KINDS
from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.names import add_sources, column_named, read_atlas, unknown
from reports.data.strict import ANSWERS_FORMAT
from reports.verbs.verb import add_verb

EPILOG = f"""A way is a mode, in which the plans of the clauses are played, or a topic of the chapter `modes`.
{REPORTS} rely --mode MODE --api API lists the clauses of a cell.
exit status: 0 shown, 2 the question cannot be answered.
example: python -m reports modes --on 2.15 register_forward_hook"""
CHAPTER = "modes"
SAME, OTHER, REFUSED, STATED, NOTHING = "as in eager", "otherwise", "refused", "stated", "not measured"


@dataclass(frozen=True)
class Rule:
    """Why clauses are otherwise in a mode: its name and sentence, how many clauses, and one of them."""

    name: str
    says: str
    clauses: int
    example: str


@dataclass(frozen=True)
class Entry:
    """One API in one way: of so many clauses so many are otherwise, by these rules; or the clauses that state it."""

    api: str
    way: str
    answer: str
    clauses: int = 0
    otherwise: int = 0
    rules: tuple[Rule, ...] = ()
    stated: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The cell in words."""
        of = forms.counted(self.clauses, "clause", "clauses")
        if self.answer == OTHER:
            return f"otherwise in {self.otherwise} of {of}: {', '.join(rule.name for rule in self.rules)}"
        return self.answer if self.answer == NOTHING else f"{self.answer} ({of})"


@dataclass(frozen=True)
class Ways:
    """The table for one release, API by API."""

    torch: str
    ways: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]


def ways(atlas: Atlas, column: Column, apis: tuple[str, ...] = ()) -> Ways:
    """Return the table of these APIs, or of all that a clause with plans is about."""
    modes = atlas.modes[1:]
    topics = tuple(dict.fromkeys(name.split(".")[1] for name in atlas.clauses if _chapter(name) == CHAPTER))
    rows = tuple(
        (*(_in_mode(atlas, column, api, mode) for mode in modes), *(_stated(atlas, api, topic) for topic in topics))
        for api in apis or tuple(known(atlas))
    )
    return Ways(column.label, (*modes, *topics), rows)


def known(atlas: Atlas) -> Iterator[str]:
    """Yield the hook APIs that clauses are about, in the order of the families."""
    names = dict.fromkeys(name for kind in KINDS.values() for name in (kind.method, kind.everywhere) if name)
    about = {api for clause in atlas.clauses.values() for api in clause.about}
    yield from (name for name in names if name in about)


def _chapter(clause: str) -> str:
    return clause.partition(".")[0]


def _in_mode(atlas: Atlas, column: Column, api: str, mode: str) -> Entry:
    cells = {
        name: atlas.cells[name, column.key, mode]
        for name, clause in atlas.clauses.items()
        if api in clause.about and (name, column.key, mode) in atlas.cells
    }
    seen = {name: cell for name, cell in cells.items() if cell.verdict in ("conforms", "deviates")}
    if not seen:
        refused = any(cell.verdict == "refused" for cell in cells.values())
        return Entry(api, mode, REFUSED if refused else NOTHING, len(cells) if refused else 0)
    other = {name: cell for name, cell in seen.items() if cell.verdict == "deviates"}
    count = Counter((cell.deviation or "", cell.note) for cell in other.values())
    rules = tuple(
        Rule(name.removeprefix("rule "), says, number, _first(other, name))
        for (name, says), number in count.most_common()
    )
    return Entry(api, mode, OTHER if other else SAME, len(seen), len(other), rules)


def _first(cells: dict[str, Any], deviation: str) -> str:
    return min(name for name, cell in cells.items() if (cell.deviation or "") == deviation)


def _stated(atlas: Atlas, api: str, topic: str) -> Entry:
    found = tuple(
        name for name, clause in atlas.clauses.items() if name.startswith(f"{CHAPTER}.{topic}.") and api in clause.about
    )
    return Entry(api, topic, STATED if found else NOTHING, len(found), stated=found)


def as_text(table: Ways) -> str:
    """Return the table for a terminal."""
    width = max(map(len, table.ways))
    lines = [f"torch {table.torch}: hooks in other ways to run than eager"]
    for row in table.rows:
        lines += ["", row[0].api]
        for entry in row:
            lines.append(f"  {entry.way:<{width}}  {entry.words}")
            lines += [f"  {'':<{width}}    {rule.name}: {rule.says} ({rule.example})" for rule in entry.rules]
            lines += [f"  {'':<{width}}    {', '.join(entry.stated)}"] if entry.stated else []
    return "\n".join(lines) + "\n"


def as_json(table: Ways) -> str:
    """Return the table as JSON."""
    cells = [
        {**vars(entry), "rules": [vars(rule) for rule in entry.rules], "stated": list(entry.stated)}
        for row in table.rows
        for entry in row
    ]
    return forms.as_json({"format": ANSWERS_FORMAT, "torch": table.torch, "ways": list(table.ways), "cells": cells})


def as_markdown(table: Ways) -> str:
    """Return the table with a row for each API."""
    lines = [f"| torch {table.torch} | {' | '.join(table.ways)} |", "|---" * (len(table.ways) + 1) + "|"]
    lines += [f"| `{row[0].api}` | {' | '.join(forms.escaped(entry.words) for entry in row)} |" for row in table.rows]
    return "\n".join(lines) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "modes", run, "each hook API in each way to run a network", EPILOG, __doc__)
    parser.add_argument("apis", nargs="*", metavar="API", help="such as register_forward_hook (default: all)")
    parser.add_argument("--on", metavar="RELEASE", help="the release (default: the newest, or the run)")
    add_sources(parser)
    forms.add_format(parser, FORMS)


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    atlas = read_atlas(args)
    column = atlas.focus if args.on is None else column_named(atlas.columns, args.on)
    apis = list(known(atlas))
    for api in args.apis:
        if api not in apis:
            raise unknown("hook API", api, apis, f"{REPORTS} modes lists them")
    forms.show(ways(atlas, column, tuple(args.apis)), FORMS, args.format)
    return 0
