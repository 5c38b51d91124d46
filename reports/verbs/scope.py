"""What a usual program is: the conditions of all sentences, each with a program that shows what happens outside."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from fixtures.run.naming import REPORTS
from reports.data import forms
from reports.data.names import unknown
from reports.data.scope import HOW, ScopeWord, scope
from reports.data.strict import ANSWERS_FORMAT
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 shown, 2 no such word.
example: python -m reports scope "keyword inputs\""""
Lists = Mapping[str, list[ScopeWord]]


def as_text(lists: Lists) -> str:
    """Return the scope for a terminal."""
    lines = ["A clause promises something about a usual program, and about what it names beyond that."]
    for title, parts in lists.items():
        width = max(len(one.name) for one in parts)
        lines += ["", title, *(f"  {one.name:<{width}}  {one.usual}" for one in parts)]
    return (
        "\n".join([*lines, "", HOW, f"{REPORTS} scope WORD prints the program that shows what happens outside"]) + "\n"
    )


def as_json(lists: Lists) -> str:
    """Return the scope as JSON."""
    names = ("surroundings", "programs")
    found: dict[str, Any] = {
        name: [{**vars(one), "see": list(one.see)} for one in parts]
        for name, parts in zip(names, lists.values(), strict=True)
    }
    return forms.as_json({"format": ANSWERS_FORMAT, **found})


def as_markdown(lists: Lists) -> str:
    """Return the scope as two tables."""
    lines: list[str] = []
    for title, parts in lists.items():
        lines += ["", title, "", "| word | usual | outside |", "|---|---|---|"]
        lines += [f"| {' | '.join(map(forms.escaped, (one.name, one.usual, one.outside)))} |" for one in parts]
    return "\n".join(lines[1:]) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "scope", run, "what a usual program is: the conditions of all sentences", EPILOG, __doc__)
    parser.add_argument("word", nargs="?", metavar="WORD", help="print the program that shows what happens outside it")
    forms.add_format(parser, FORMS)


def run(args: argparse.Namespace) -> int:
    """Print the scope, or one program."""
    lists = scope()
    if args.word is None:
        forms.show(lists, FORMS, args.format)
        return 0
    known = {one.name: one for parts in lists.values() for one in parts}
    if args.word not in known:
        raise unknown("word of the scope", args.word, known, f"{REPORTS} scope lists them")
    sys.stdout.write(known[args.word].program)
    return 0
