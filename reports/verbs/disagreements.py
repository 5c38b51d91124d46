"""The table of reports/upstream/README.md: where torch and its documentation disagree, and on which releases."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, build
from reports.data.disagreements import UPSTREAM, Disagreement, known, versions
from reports.data.verdicts import read_recorded, read_table
from reports.verbs import tables
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 written, or up to date with --check, 1 out of date, 2 a file cannot be read.
example: python -m reports disagreements --check"""


def table(atlas: Atlas, scripts: list[Disagreement]) -> str:
    """Return the disagreements as markdown, one row each."""
    rows = ["| script | the documentation says | torch does | on torch |", "|---|---|---|---|"]
    for one in scripts:
        page = f"[page]({one.address})"
        script = f"[`{one.clause}`]({one.clause}.py): {one.sentence}"
        rows.append(f"| {script} | {one.documentation} {page} | {one.torch} | {versions(atlas, one)} |")
    return "\n".join(rows) + "\n"


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    says = "write the table of reports/upstream/README.md"
    parser = add_verb(sub, "disagreements", run, says, EPILOG, __doc__)
    parser.add_argument("--upstream", type=Path, default=UPSTREAM, help=argparse.SUPPRESS)
    tables.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Write the table, or say that it is out of date."""
    atlas = build(read_table(args.verdicts), read_recorded(args.verdicts))
    made = table(atlas, known(atlas, args.upstream))
    return tables.write(args.upstream / "README.md", "disagreements", made, check=args.check)
