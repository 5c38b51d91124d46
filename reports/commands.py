"""The verbs of the reports except sweep: each reads everything, validates it, and only then writes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reports import disagreements, recording
from reports.atlas import Atlas, Column, build
from reports.diff import FORMATS, compare
from reports.merge import merge
from reports.runfile import Run, read_runs, write_runs
from reports.strict import BadInput, one_line, write_atomic
from reports.verdicts import VERDICTS, read_recorded, read_table

OUT = Path("reports/out/index.html")


def add_parsers(sub: Any) -> None:
    """Add the verbs to the command line."""
    page = _verb(sub, "page", run_page, "build the page from the committed verdicts and these runs", "*")
    page.add_argument("--out", type=Path, default=OUT, help="where to write the page (default: %(default)s)")
    page.add_argument("--upstream", type=Path, default=disagreements.UPSTREAM, help=argparse.SUPPRESS)
    record = _verb(sub, "record", run_record, "write the committed verdicts from these runs", "+")
    check = _verb(sub, "check", run_check, "fail when recording these runs would change a committed verdict", "+")
    for parser in (record, check):
        parser.add_argument("--add", action="store_true", help="keep recorded cells that these runs do not tell of")
    join = _verb(sub, "merge", run_merge, "join run files: shards of one run, or runs of several torches", "+")
    join.add_argument("--out", type=Path, required=True, metavar="FILE", help="the run file to write")
    diff = _verb(sub, "diff", run_diff, "show what is different between two torches")
    diff.add_argument("before", metavar="A", help="a recorded minor version or a run file")
    diff.add_argument("after", metavar="B", help="a recorded minor version or a run file")
    diff.add_argument("--format", choices=sorted(FORMATS), default="text")
    disagreements.add_parser(sub)


def _verb(sub: Any, name: str, run: Any, says: str, runs: str = "") -> argparse.ArgumentParser:
    parser = sub.add_parser(name, help=says, description=says[0].upper() + says[1:] + ".")
    parser.set_defaults(run=run)
    if runs:
        parser.add_argument("runs", nargs=runs, type=Path, metavar="RUNFILE")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)
    return parser


def run_page(args: argparse.Namespace) -> int:
    """Build the page and print the counts and its path."""
    from reports.page import render  # loaded here: no other verb needs a template engine

    runs = _read(args.runs, partial=True)
    for run in runs:
        if not run.complete:
            print(one_line(f"{run.path}: {len(run.missing)} cells are missing; {run.resume}"), file=sys.stderr)
    atlas = build(read_table(args.verdicts), read_recorded(args.verdicts), runs)
    write_atomic(args.out, render(atlas, disagreements.told(atlas, args.upstream)))
    print(one_line(counts_line(atlas, atlas.focus)))
    print(one_line(str(args.out)))
    return 0


def counts_line(atlas: Atlas, column: Column) -> str:
    """Return "torch 2.15.0: 97 conforms, 3 deviates" for a column."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in atlas.counts(column).items())
    return f"torch {column.torch}: {counts or 'no cells'}"


def run_record(args: argparse.Namespace) -> int:
    """Write the verdict files and say what changed."""
    plan = recording.plan(_read(args.runs), args.verdicts, add=args.add)
    changes = list(plan.changes())
    for path in plan.write(args.verdicts):
        print(one_line(str(path)))
    outdated = plan.outdated()
    if outdated:
        told = ", ".join(f"{count} on {name}" for name, count in outdated.items())
        mend = f"measure them again: python -m reports sweep {' '.join(outdated)}"
        print(f"cells of an older text of their clause, shown as unseen: {told}; {mend}", file=sys.stderr)
    print(f"{len(changes)} cells changed" if changes else "no cell changed")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Print one line for each cell that would change."""
    plan = recording.plan(_read(args.runs), args.verdicts, add=args.add)
    changes = list(plan.changes())
    for line in changes:
        print(one_line(line))
    return 1 if changes else 0


def run_merge(args: argparse.Namespace) -> int:
    """Join the run files and say what came out."""
    if any(args.out.resolve() == path.resolve() for path in args.runs):
        raise BadInput(args.out, "", "is also one of the files to read", "name another file with --out")
    runs = merge(_read(args.runs))
    write_runs(args.out, runs)
    for run in runs:
        print(one_line(f"torch {run.header['torch']}: {len(run.cells)} cells"))
    print(one_line(str(args.out)))
    return 0


def run_diff(args: argparse.Namespace) -> int:
    """Print the difference."""
    found = compare(args.before, args.after, read_table(args.verdicts), read_recorded(args.verdicts))
    text = FORMATS[args.format](found)
    print("\n".join(one_line(line) for line in text.split("\n")), end="")
    return 0


def _read(paths: Iterable[Path], *, partial: bool = False) -> list[Run]:
    """Read all run files, the same file only once."""
    seen: dict[Path, Path] = {}
    for path in paths:
        if path.resolve() in seen:
            raise BadInput(path, "", "is given twice", "give each run file once")
        seen[path.resolve()] = path
    return [run for path in seen.values() for run in read_runs(path, partial=partial)]
