"""The run files that a verb reads where none is named: those of the folder into which `run` and `tox` write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from fixtures.run.naming import FOLDER, INSTALLED, READERS, RUN
from reports.data import forms
from reports.data.runfile import Run
from reports.data.strict import BadInput, one_line

PLACES = (Path(FOLDER), Path(FOLDER) / "runs")
MEASURE = RUN if INSTALLED else "tox"


def written_last() -> list[Path]:
    """Return the run file that was written last, none where there is none."""
    found = [path for place in PLACES for path in place.glob("*.jsonl") if path.is_file()]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))[-1:]


def add_runs(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """Let the caller name run files, or none."""
    says = f"a run file; where none is named, the last one that is in {' or '.join(map(str, PLACES))}"
    parser.add_argument("runs", nargs="*" if several else "?", type=Path, metavar="RUNFILE", help=says)


def named_or_last(given: Iterable[Path]) -> list[Path]:
    """Return the run files that were named, else the last one that was written. Raises BadInput for none."""
    paths = list(given) or written_last()
    if not paths:
        hint = f"measure first: {MEASURE}, or name a run file"
        raise BadInput(READERS, "", f"no run file in {' or '.join(map(str, PLACES))}", hint)
    return paths


def say_which(given: Iterable[Path], runs: Iterable[Run]) -> None:
    """Say on standard error which run files were read where none was named, of when, and how many clauses they have."""
    if list(given):
        return
    for run in runs:
        began = datetime.fromisoformat(run.header["began"]).astimezone().strftime("%d %b %Y, %H:%M")
        clauses = forms.counted(len({name for name, _ in run.lines}), "clause", "clauses")
        line = f"reading {run.path}: {forms.torch_of(run.measured)}, measured on {began}, {clauses}"
        print(one_line(line), file=sys.stderr)
