"""The verbs of the reports except sweep: each reads everything, validates it, and only then writes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fixtures.run.naming import FOLDER, REPORTS
from reports.costs.recorded import read_record
from reports.data import forms
from reports.data.atlas import build
from reports.data.disagreements import UPSTREAM, known
from reports.data.merge import merge
from reports.data.runfile import Run, read_runs, write_runs
from reports.data.strict import ANSWERS_FORMAT, BadInput, one_line, write_atomic
from reports.data.table import ROOT
from reports.data.verdicts import COSTS_NAME, VERDICTS, read_recorded, read_table
from reports.page.programs import examples
from reports.record import recording
from reports.record.comparing import CellChange, Comparison, comparison
from reports.record.targets import read_targets, record_target
from reports.verbs import tables, written
from reports.verbs.own_run import PLACES, add_runs, named_or_last, say_which, written_last
from reports.verbs.verb import add_verb

OUT = Path(FOLDER) / "index.html"
#: What a page without a run says.
ALONE = f"no run file in {' or '.join(map(str, PLACES))}: the page shows recorded releases only"
EPILOGS = {
    "page": "exit status: 0 written, 2 a file cannot be read.\nexample: python -m reports page mine.jsonl",
    "record": "Without run files it writes the tables in README.md, docs/ and reports/upstream alone.\n"
    "exit status: 0 written, 2 these cannot be recorded.\nexample: python -m reports record mine.jsonl",
    "check": "Takes runs of any profile and of some clauses: what was run is compared.\n"
    "exit status: 0 all cells are as recorded, 1 some are not, 2 a file cannot be read.\n"
    "example: python -m reports check mine.jsonl --format markdown",
    "merge": "exit status: 0 written, 2 the files cannot be merged; the line says why.\n"
    "example: python -m reports merge shard*.jsonl --out all.jsonl",
}


def add_parsers(sub: Any) -> None:
    """Add the verbs to the command line."""
    page = _verb(sub, "page", run_page, "build the page from the committed verdicts and these runs")
    add_runs(page)
    page.add_argument("--recorded", action="store_true", help="the recorded releases alone, without a run")
    forms.add_out(page, OUT)
    forms.add_format(page, written.FORMS)
    page.add_argument("--upstream", type=Path, default=UPSTREAM, help=argparse.SUPPRESS)
    record = _verb(sub, "record", run_record, "write the committed verdicts from these runs, and all tables", "*")
    record.add_argument(
        "--replace",
        action="store_true",
        help="drop recorded cells of these modes that the runs do not hold",
    )
    record.add_argument("--gone", action="store_true", help="drop clauses that the suites do not have")
    record.add_argument(
        "--restamp",
        action="store_true",
        help="let older texts of a clause count for the new one on other releases, where these runs prove it",
    )
    words = "; ".join(f"{word}: {what}" for word, what in recording.ACCEPTS.items())
    record.add_argument(
        "--accept", action="append", default=[], choices=sorted(recording.ACCEPTS), help=f"record this too ({words})"
    )
    record.add_argument("--target", metavar="NAME", help="record one complete run of a target, under this name")
    check = _verb(sub, "check", run_check, "compare runs with the committed verdicts of their release")
    add_runs(check)
    forms.add_format(check, CHECK_FORMS)
    join = _verb(sub, "merge", run_merge, "join run files: shards of one run, or runs of several torches", "+")
    forms.add_out(join, required=True)
    forms.add_format(join, written.FORMS)


def _verb(sub: Any, name: str, run: Any, says: str, runs: str = "") -> argparse.ArgumentParser:
    parser = add_verb(sub, name, run, says, EPILOGS[name], listed=name != "record")
    if runs:
        parser.add_argument("runs", nargs=runs, type=Path, metavar="RUNFILE")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)
    return parser


def run_page(args: argparse.Namespace) -> int:
    """Build the page and print the counts and its path."""
    from reports.page.build import render  # loaded here: no other verb needs a template engine
    from reports.page.own import own

    paths = args.runs or ([] if args.recorded else written_last())
    runs = _read(paths, partial=True)
    say_which(args.runs, runs)
    for run in runs:
        if not run.complete:
            print(
                one_line(
                    f"{run.path}: {forms.counted(len(run.missing), 'cell is', 'cells are')} missing; {run.resume}"
                ),
                file=sys.stderr,
            )
    atlas = build(read_table(args.verdicts), read_recorded(args.verdicts), runs, failing=True)
    costs = read_record(args.verdicts / COSTS_NAME)
    programs = examples() if args.verdicts == VERDICTS else {}  # they say what is recorded there
    answer = own(runs, args.verdicts) if runs else None
    targets = read_targets(args.verdicts)
    write_atomic(args.out, render(atlas, known(atlas, args.upstream), costs, programs, answer, targets))
    if not paths and not args.recorded:
        print(ALONE, file=sys.stderr)
    forms.show(written.of_atlas(args.out, atlas), written.FORMS, args.format)
    return 0


def run_record(args: argparse.Namespace) -> int:
    """Write the verdict files and say what changed; of a target its own file alone."""
    if args.target is not None:
        print(one_line(str(record_target(args.target, _read(args.runs), args.verdicts))))
        return 0
    made = recording.prepared(
        _read(args.runs), args.verdicts, replace=args.replace, gone=args.gone, restamp=args.restamp
    )
    made.check(args.accept)
    changes = list(made.changes())
    for path in made.write(args.verdicts):
        print(one_line(str(path)))
    if args.verdicts == VERDICTS:
        table = read_table()
        for path in tables.write(ROOT, build(table, read_recorded()), table):
            print(one_line(str(path)))
    if made.restamped:
        print("not measured anew on every release, the same where they were:", ", ".join(made.restamped))
    for fault in made.unproven:
        print(one_line(f"not restamped: {fault}"), file=sys.stderr)
    if made.gone:
        print("gone:", ", ".join(made.gone))
    outdated = made.outdated()
    if outdated:
        counts = ", ".join(f"{count} on {name}" for name, count in outdated.items())
        hint = f"measure them again: {REPORTS} sweep {' '.join(outdated)}"
        print(f"cells of another text than their clause has here, shown as unseen: {counts}; {hint}", file=sys.stderr)
    print(forms.counted(len(changes), "cell changed", "cells changed") if changes else "no cell changed")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Print one line for each cell that is not as recorded, and how many are."""
    runs = _read(named_or_last(args.runs))
    say_which(args.runs, runs)
    found = comparison(runs, args.verdicts)
    forms.show(found, CHECK_FORMS, args.format)
    return 1 if found.changes else 0


def _check_text(found: Comparison) -> str:
    return "".join(f"{line}\n" for line in (*found.changes, *found.says))


def _check_json(found: Comparison) -> str:
    changes = [_change(one) for one in found.changes]
    numbers = {"compared": found.cells, "recorded": found.recorded, "searched": list(found.searched)}
    matches = [
        {
            "torch": one.torch,
            "release": one.release,
            "says": one.words,
            "cells": {m: list(n) for m, n in one.cells.items()},
        }
        for one in found.matches
    ]
    return forms.as_json({"format": ANSWERS_FORMAT, **numbers, "matches": matches, "changes": changes})


def _change(one: CellChange) -> dict[str, Any]:
    before, after = (None if cell is None else cell.plain for cell in (one.before, one.after))
    return {
        "torch": one.torch, "clause": one.clause, "mode": one.mode, "kind": one.kind, "level": one.level,
        "says": one.words, "before": before, "after": after, "weight": one.weight,
    }  # fmt: skip


def _check_markdown(found: Comparison) -> str:
    lines = [line for says in found.says for line in (forms.escaped(says), "")]
    lines += ["| torch | clause | mode | change |", "|---|---|---|---|"] if found.changes else ["No verdict changes."]
    lines += [f"| {one.torch} | `{one.clause}` | {one.mode} | {forms.escaped(one.words)} |" for one in found.changes]
    return "\n".join(lines) + "\n"


CHECK_FORMS = {"text": _check_text, "json": _check_json, "markdown": _check_markdown}


def run_merge(args: argparse.Namespace) -> int:
    """Join the run files and say what came out."""
    if os.path.realpath(args.out) in map(os.path.realpath, args.runs):
        raise BadInput(args.out, "", "is also one of the files to read", "name another file with --out")
    runs = merge(_read(args.runs))
    write_runs(args.out, runs)
    forms.show(written.of_runs(args.out, runs), written.FORMS, args.format)
    return 0


def _read(paths: Iterable[Path], *, partial: bool = False) -> list[Run]:
    """Read all run files, the same file only once."""
    seen: dict[str, Path] = {}
    for path in paths:
        real = os.path.realpath(path)  # which takes a link to itself too: reading it says what is wrong
        if real in seen:
            raise BadInput(path, "", "is given twice", "give each run file once")
        seen[real] = path
    return [run for path in seen.values() for run in read_runs(path, partial=partial)]
