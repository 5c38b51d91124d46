"""What a person names on the command line: releases, clauses, files. To an unknown name the nearest is proposed."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

from fixtures.run.naming import READERS, REPORTS
from reports.data.atlas import Atlas, Column, build
from reports.data.forms import torch_of
from reports.data.runfile import read_runs
from reports.data.strict import BadInput, shown
from reports.data.verdicts import VERDICTS, read_recorded, read_table

MOST = 3
RUN = "a run file to compare with the releases; it is shown next to the recorded release of its torch; repeatable"


def near(asked: str, known: Iterable[str]) -> list[str]:
    """Return the known names that the asked one may mean: unfinished, a part of one, or misspelt."""
    names = sorted(set(known))
    low = asked.lower()
    begun = [name for name in names if low and name.lower().startswith(low)]
    inside = [name for name in names if low and low in name.lower() and name not in begun]
    return [*begun, *inside] or difflib.get_close_matches(asked, names, n=MOST, cutoff=0.6)


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """Return the question which known name was meant, nothing where that cannot be guessed."""
    guesses = near(asked, known)
    more = f" (and {len(guesses) - MOST} more)" if len(guesses) > MOST else ""
    return f"did you mean {' or '.join(guesses[:MOST])}?{more}" if guesses else ""


def unknown(what: str, asked: str, known: Iterable[str], hint: str) -> BadInput:
    """Return the complaint about an unknown name: what was meant where that can be guessed, else the hint."""
    return BadInput(READERS, "", f"there is no {what} {shown(asked)}", did_you_mean(asked, known) or hint)


def clause_named(atlas: Atlas, asked: str) -> str:
    """Return the id of a clause."""
    if asked in atlas.clauses:
        return asked
    if asked in atlas.checks:
        fault = f"{asked} compares whole plans with the model: it is no sentence for users"
        raise BadInput(READERS, "", fault, f"{REPORTS} triage RUNFILE shows where it fails")
    if asked.startswith("missing."):
        fault = f"{asked} is what affects says of an API that a torch does not have: it is no clause"
        raise BadInput(READERS, "", fault, f"{REPORTS} rely --api {asked.removeprefix('missing.')}")
    raise unknown("clause", asked, atlas.clauses, f"{REPORTS} rely lists them all")


def recorded_as(asked: str, names: Sequence[tuple[str, ...]]) -> int | None:
    """Return the place of the release of that name: "2.13", "2.13.0", "v2.13", "torch2.13", "2.13.0+cpu", "2" for 2.0.

    `names` are those of each release: the minor version and the whole one.
    """
    plain = asked.removeprefix("torch").removeprefix("v")
    public = plain.partition("+")[0]
    for spelled in (plain, public, f"{public}.0" if public.isdigit() else public):
        for place, known in enumerate(names):
            if spelled in known:
                return place
    return None


def column_named(columns: Iterable[Column], asked: str) -> Column:
    """Return the column of a release, named as in `recorded_as`."""
    columns = list(columns)
    place = recorded_as(asked, [(column.key, column.head, column.measured) for column in columns])
    if place is not None:
        return columns[place]
    hint = version_hint(asked, [column.key for column in columns])
    raise BadInput(READERS, "", f"there is no torch version {shown(asked)}", hint)


def version_hint(asked: str, known: Sequence[str]) -> str:
    """Return which version was meant, or from which to which there are some; oldest first."""
    try:
        beyond = not Version(known[0]) <= Version(asked) <= Version(known[-1])  # 2.16 is not meant to be 2.6
    except InvalidVersion:
        beyond = False
    guessed = [name for name in known if name.startswith(asked)] if beyond else known
    return did_you_mean(asked, guessed) or f"known are {known[0]} to {known[-1]}"


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Let the caller add run files to the committed verdicts."""
    parser.add_argument("--run", action="append", default=[], type=Path, metavar="RUNFILE", dest="runs", help=RUN)
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)


def read_atlas(args: argparse.Namespace, *, failing: bool = False) -> Atlas:
    """Return the committed verdicts and the runs that were named; `failing` as in `build`."""
    runs = [run for path in args.runs for run in read_runs(path, partial=True)]
    return build(read_table(args.verdicts), read_recorded(args.verdicts), runs, failing=failing)


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Let the caller name a mode."""
    parser.add_argument("--mode", help="the mode of execution (default: eager)")


def mode_named(atlas: Atlas, asked: str | None) -> str:
    """Return the mode that is meant; eager where none is named."""
    if asked is not None and asked not in atlas.modes:
        raise unknown("mode", asked, atlas.modes, f"measured are {', '.join(atlas.modes)}")
    return asked or atlas.modes[0]


def add_range(parser: argparse.ArgumentParser) -> None:
    """Let the caller name a range of releases."""
    parser.add_argument("--from", dest="first", metavar="A", help="the oldest release (default: the oldest recorded)")
    parser.add_argument("--to", dest="last", metavar="B", help="the newest release (default: the newest recorded)")


def between(atlas: Atlas, first: str | None, last: str | None) -> tuple[Column, ...]:
    """Return the columns from one version to another, both included, and all runs; to the ends where none is named."""
    low = column_named(atlas.columns, first) if first is not None else atlas.columns[0]
    high = column_named(atlas.columns, last) if last is not None else atlas.columns[-1]
    if low.version > high.version:
        raise BadInput(
            READERS, "", f"{torch_of(low.label)} is newer than {torch_of(high.label)}", "name the older one first"
        )
    inside = (low.version, high.version)
    return tuple(one for one in atlas.columns if one.this_run or inside[0] <= one.version <= inside[1])
