"""The chapters: their order and what each is about; and the table of them in the README."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, build
from reports.data.statements import ANSWERS, statement
from reports.data.strict import BadInput, one_line, write_atomic
from reports.data.verdicts import VERDICTS, read_recorded, read_table

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
TABLE = re.compile(r"(<!-- chapters -->\n).*?(<!-- /chapters -->)", re.DOTALL)


def order(clause: str, record: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return where a clause stands: chapters as above, unknown ones last, and inside them as in the files."""
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
        told = ", ".join(f"{counts[each]} {_plural(each, counts[each])}" for each in ANSWERS if counts[each])
        rows.append(f"| `{chapter}` | {CHAPTERS.get(chapter, '')} | {len(own)} | {told} |")
    return "\n".join(rows) + "\n"


def _plural(answer: str, count: int) -> str:
    return answer.removesuffix("s") if answer in ("holds", "deviates") and count > 1 else answer


_NOWHERE = {"file": "", "line": 0}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = sub.add_parser("chapters", help="write the table of chapters into the README", description=__doc__)
    parser.add_argument("readme", nargs="?", type=Path, default=Path("README.md"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the table is out of date")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the table between its two marks, or say that it is out of date."""
    try:
        text = args.readme.read_text("utf-8")
    except OSError as error:
        raise BadInput(args.readme, "", f"cannot be read ({error.strerror})", "name the README") from error
    made = table(build(read_table(args.verdicts), read_recorded(args.verdicts), []))
    if not TABLE.search(text):
        raise BadInput(
            args.readme, "", "has no table of chapters", "put <!-- chapters --> and <!-- /chapters --> in it"
        )
    fresh = TABLE.sub(lambda found: found[1] + made + found[2], text)
    if fresh == text:
        print(one_line(f"{args.readme}: the table of chapters is up to date"))
        return 0
    if args.check:
        print(
            one_line(f"{args.readme}: the table of chapters is out of date: python -m reports chapters"),
            file=sys.stderr,
        )
        return 1
    write_atomic(args.readme, fresh)
    print(one_line(str(args.readme)))
    return 0
