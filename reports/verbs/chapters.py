"""The table of the chapters in the README: what each is about, and what its clauses are on the newest torch."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, build
from reports.data.order import CHAPTERS, chapter_order
from reports.data.verdicts import read_recorded, read_table
from reports.page.matrix import answers
from reports.verbs import tables
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 written, or up to date with --check, 1 out of date, 2 a file cannot be read.
example: python -m reports chapters --check"""


def table(atlas: Atlas) -> str:
    """Return the chapters with what their clauses are on the newest torch, as markdown."""
    newest = atlas.columns[-1]
    rows = [f"| chapter | about | clauses | on torch {newest.label} |", "|---|---|---|---|"]
    for chapter in sorted({clause.chapter for clause in atlas.clauses.values()}, key=chapter_order):
        counts = answers(atlas, chapter, newest)
        words = ", ".join(f"{count} {_plural(each, count)}" for each, count in counts.items())
        rows.append(f"| `{chapter}` | {CHAPTERS.get(chapter, '')} | {sum(counts.values())} | {words} |")
    return "\n".join(rows) + "\n"


def _plural(answer: str, count: int) -> str:
    return answer.removesuffix("s") if answer in ("holds", "deviates") and count > 1 else answer


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(sub, "chapters", run, "write the table of chapters into the README", EPILOG, __doc__)
    parser.add_argument("readme", nargs="?", type=Path, default=Path("README.md"))
    tables.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the table, or say that it is out of date."""
    made = table(build(read_table(args.verdicts), read_recorded(args.verdicts), []))
    return tables.write(args.readme, "chapters", made, check=args.check)
