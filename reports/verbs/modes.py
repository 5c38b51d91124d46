"""Each hook API in each mode, on one torch: as in eager, otherwise by which rule, or not measured."""

from __future__ import annotations

import argparse
from typing import Any

from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.by_mode import ByMode, Entry, Rule, by_mode, known
from reports.data.names import add_sources, column_named, read_atlas, unknown
from reports.data.strict import ANSWERS_FORMAT
from reports.verbs.verb import add_verb

EPILOG = f"""A column is a mode, in which the plans of the clauses are played, or a topic of the chapter `modes`.
{REPORTS} rely --mode MODE --api API --all lists the clauses of a cell.
exit status: 0 shown, 2 the question cannot be answered.
example: python -m reports modes --on 2.15 register_forward_hook"""


def as_text(table: ByMode) -> str:
    """Return the table for a terminal."""
    width = max(map(len, table.modes), default=0)
    lines = [f"{forms.torch_of(table.torch)}: hooks in other modes than eager"]
    for row in table.rows:
        lines += ["", row[0].api]
        for entry in row:
            lines.append(f"  {entry.mode:<{width}}  {entry.words}{_on(table, entry)}")
            lines += [f"  {'':<{width}}    {rule.says}{_for(rule)}" for rule in entry.rules]
            lines += [f"  {'':<{width}}    beyond: {rule.says}{_for(rule)}" for rule in entry.besides]
            lines += [f"  {'':<{width}}    {', '.join(entry.stated)}"] if entry.stated else []
    return "\n".join(lines) + "\n"


def _on(table: ByMode, entry: Entry) -> str:
    """Return on which torch, where that is not the one of the table: what a run has not is told of the record."""
    return f", {forms.torch_of(entry.torch)}" if entry.torch not in ("", table.torch) else ""


def _for(rule: Rule) -> str:
    return f" ({rule.example})" if rule.example else ""


def as_json(table: ByMode) -> str:
    """Return the table as JSON."""
    cells = [
        {
            **vars(entry),
            "rules": [vars(rule) for rule in entry.rules],
            "stated": list(entry.stated),
            "besides": [vars(rule) for rule in entry.besides],
        }
        for row in table.rows
        for entry in row
    ]
    return forms.as_json({"format": ANSWERS_FORMAT, "torch": table.torch, "modes": list(table.modes), "cells": cells})


def as_markdown(table: ByMode) -> str:
    """Return the table with a row for each API."""
    lines = [f"| {forms.torch_of(table.torch)} | {' | '.join(table.modes)} |", "|---" * (len(table.modes) + 1) + "|"]
    lines += [f"| `{row[0].api}` | {' | '.join(_cell(table, entry) for entry in row)} |" for row in table.rows]
    return "\n".join(lines) + "\n"


def _cell(table: ByMode, entry: Entry) -> str:
    return "<br>".join(map(forms.escaped, (entry.words + _on(table, entry), *(rule.says for rule in entry.rules))))


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "modes", run, "each hook API in each mode", EPILOG, __doc__)
    parser.add_argument("apis", nargs="*", metavar="API", help="such as register_forward_hook (default: all)")
    parser.add_argument(
        "--on", metavar="RELEASE", help="the release (default: the run, and the newest for what it has not)"
    )
    add_sources(parser)
    forms.add_format(parser, FORMS)


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    atlas = read_atlas(args)
    columns = atlas.newest if args.on is None else (column_named(atlas.columns, args.on),)
    apis = list(known(atlas))
    for api in args.apis:
        if api not in apis:
            raise unknown("hook API", api, apis, f"{REPORTS} modes lists them")
    forms.show(by_mode(atlas, columns, tuple(args.apis)), FORMS, args.format)
    return 0
