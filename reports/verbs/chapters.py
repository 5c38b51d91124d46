"""The chapters: their order and what each is about; and the table of them in the README."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, build
from reports.data.statements import ANSWERS, statement
from reports.data.verdicts import read_recorded, read_table
from reports.verbs import tables

#: chapter -> what it is about; the order in which the page and the README show them.
CHAPTERS = {
    "ordering": "which hook runs before which: kinds, global and own, nested modules, branches, changes while running",
    "input": "what a forward pre-hook may put in place of a module's inputs",
    "output": "what a forward hook may put in place of a module's output, and hooks that run when forward failed",
    "gradient": "what a tensor hook may put in place of a gradient, and what a backward pass calls",
    "retain": "when retain_grad() takes its copy, of what, and what else sees it",
    "backward": "legacy, full and full pre-hooks on modules: what they are given and what they may return",
    "handles": "registering, removing and copying: what a handle does, and what changes while hooks run",
    "together": "plans from the whole grammar: any network, hooks and script; torch does what the contract predicts",
    "tutorial": "sentences that learners meet in widely read tutorials: is what I learned still so?",
}


def order(clause: str, record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the place of a clause: chapters as above, unknown ones last, and inside them as in the files."""
    chapter = clause.partition(".")[0]
    known = list(CHAPTERS).index(chapter) if chapter in CHAPTERS else len(CHAPTERS)
    return known, chapter, record["file"], record["line"], clause


def table(atlas: Atlas) -> str:
    """Return the chapters with what their clauses are on the newest torch, as markdown."""
    newest = atlas.columns[-1]
    mode = atlas.modes[0]
    rows = [f"| chapter | about | clauses | on torch {newest.label} |", "|---|---|---|---|"]
    for chapter in sorted(
        {clause.partition(".")[0] for clause in atlas.clauses}, key=lambda name: order(name, _NOWHERE)
    ):
        own = [clause for clause in atlas.clauses if clause.startswith(chapter + ".")]
        said = [statement(atlas.clauses[clause], atlas.cell(clause, newest, mode)) for clause in own]
        counts = Counter(one.answer for one in said)
        answers = ", ".join(f"{counts[each]} {_plural(each, counts[each])}" for each in ANSWERS if counts[each])
        rows.append(f"| `{chapter}` | {CHAPTERS.get(chapter, '')} | {len(own)} | {answers} |")
    return "\n".join(rows) + "\n"


def _plural(answer: str, count: int) -> str:
    return answer.removesuffix("s") if answer in ("holds", "deviates") and count > 1 else answer


_NOWHERE = {"file": "", "line": 0}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = sub.add_parser("chapters", help="write the table of chapters into the README", description=__doc__)
    parser.add_argument("readme", nargs="?", type=Path, default=Path("README.md"))
    tables.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table, or say that it is out of date."""
    made = table(build(read_table(args.verdicts), read_recorded(args.verdicts), []))
    return tables.write(args.readme, "chapters", made, check=args.check)
