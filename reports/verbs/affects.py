"""What differs between the releases of torch that a project supports, for just the hooks that its code uses.

The code is parsed, never run. Without --from and --to the releases are those that the project's own metadata admit, and
every release between counts. Printed is what the code alone decides; what it does not show is counted, and listed by
--unsure. A comment `# hook-conformance: CLAUSE` on a line accepts that clause there, `# hook-conformance: all` all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reports.data import forms
from reports.data.atlas import Atlas, Column
from reports.data.names import add_range, add_sources, between, read_atlas
from reports.data.statements import HARMS
from reports.data.strict import BadInput, one_line, parse, read_bytes, write_atomic
from reports.usage.affects import Finding, affects
from reports.usage.answer import FORMS, as_json, lines_of
from reports.usage.bounds import read_bounds
from reports.usage.lacks import Table
from reports.usage.uses import read_code
from reports.verbs.verb import add_verb

EPILOG = """exit status: 0 nothing differs that does this harm or worse, 1 something does, 2 the code cannot be read.
example: python -m reports affects src/mylib --from 1.13 --to 2.15"""


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = add_verb(
        sub, "affects", run, "what differs between the releases that someone's code supports", EPILOG, __doc__
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a Python file, a notebook, or a folder of them")
    add_range(parser)
    parser.add_argument(
        "--min-harm", choices=HARMS, default="none", help="only what does this harm or worse (default: none, all)"
    )
    parser.add_argument("--unsure", action="store_true", help="list what may concern the code, and is counted")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="leave out what this answer in JSON has already")
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="write this answer in JSON, for --baseline")
    forms.add_format(parser, FORMS)
    add_sources(parser)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when something differs."""
    atlas = read_atlas(args)
    columns, why = releases(atlas, args)
    table = Table(atlas)
    code = read_code(args.path, table.has)
    for fault in code.skipped:
        print(one_line(f"left out: {fault}"), file=sys.stderr)
    answer = affects(atlas, columns, code, table, str(args.path), why)
    least = HARMS.index(args.min_harm)
    found, unsure = (tuple(one for one in some if one.rank <= least) for some in (answer.findings, answer.unsure))
    answer = replace(answer, findings=found, unsure=unsure)
    if args.write_baseline:
        write_atomic(args.write_baseline, as_json(answer))
    if args.baseline:
        answer = replace(answer, findings=tuple(_new(answer.findings, args.baseline)))
    forms.show(answer, FORMS, args.format)
    if args.unsure and args.format == "text":
        print("\n".join(lines_of(answer)))
    return 1 if answer.findings else 0


def releases(atlas: Atlas, args: argparse.Namespace) -> tuple[tuple[Column, ...], str]:
    """Return the releases that are asked for, and why these: named, or admitted by the metadata of the code."""
    if args.first is not None or args.last is not None or args.runs:
        return between(atlas, args.first, args.last), "as asked"
    bounds = read_bounds(args.path)
    if bounds is None:
        return atlas.columns, "all that are recorded: no bound on torch was found in metadata"
    columns = tuple(column for column in atlas.columns if bounds.admits(column.version))
    if not columns:
        raise BadInput(args.path, "", f"no recorded release is in {bounds}", "name others with --from and --to")
    return columns, f"as {bounds} admits"


def _new(found: Sequence[Finding], baseline: Path) -> Iterator[Finding]:
    """Yield what a baseline does not hold: by clause, file and API, for lines move."""
    try:
        old = parse(read_bytes(baseline), baseline, "")["findings"]
        known = {(one["clause"], use["file"], use["api"]) for one in old for use in one["uses"]}
    except (KeyError, TypeError):
        raise BadInput(baseline, "", "is no answer of affects", "write one with --write-baseline") from None
    for one in found:
        uses = tuple(use for use in one.uses if (one.clause, use.file, use.api) not in known)
        if uses:
            yield replace(one, uses=uses)
