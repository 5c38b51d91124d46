"""The verb overhead: what hooks cost on one torch, what changed between two, and a gate for a build of one's own."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from reports.costs import forms as costs_forms
from reports.costs.change import CostChange, check
from reports.costs.counts import COUNT, HOOK, Costs, Times, read
from reports.costs.recorded import COSTS, Record, merged, read_record, write_record
from reports.data import forms
from reports.data.names import did_you_mean, recorded_as
from reports.data.strict import BadInput, one_line, shown
from reports.verbs.verb import add_verb

EPILOG = (
    "exit status: 0 shown or within the limit, 1 a kind of hook costs more than it may, 2 a file cannot be used.\n"
    "example: python -m reports overhead new.json --baseline old.json --max-ratio forward=1.05"
)
GATE_HINT = "such as: NEW.json --baseline OLD.json --max-ratio forward=1.05"


def add_parser(sub: Any) -> None:
    """Add the verb overhead to the command line."""
    says = "show what hooks cost: as recorded of a release, or as suites.timing of a clone counted it"
    parser = add_verb(sub, "overhead", run, says, EPILOG, listed=False)
    file = "a counts file, or a recorded release"
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{file}, and perhaps JSON of pytest-benchmark")
    parser.add_argument("--from", dest="before", metavar="A", help=file)
    parser.add_argument("--to", dest="after", metavar="B", help=f"{file}: what changed from A to B")
    parser.add_argument("--baseline", metavar="A", help=f"what the gate compares with: {file}")
    parser.add_argument(
        "--max-ratio", action="append", default=[], metavar="KIND=1.05",
        help="exit 1 when that kind costs more than so many times the baseline; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--record", action="store_true", help="record these files instead of what is recorded of the same releases"
    )
    forms.add_format(parser, costs_forms.FORMS)
    parser.add_argument("--costs", type=Path, default=COSTS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Show, compare, record or gate. Returns 1 where a kind costs more than it may, else 0."""
    record, status = read_record(args.costs), 0
    if bool(args.baseline or args.max_ratio) + bool(args.before or args.after) + args.record > 1:
        raise BadInput("overhead", "", "--record, --from and --to, and --baseline do not go together", "take one")
    if args.baseline or args.max_ratio:
        if not args.baseline or not args.max_ratio or len(args.files) != 1:
            raise BadInput("overhead", "", "a gate needs one counts file, --baseline and --max-ratio", GATE_HINT)
        sides = _sides(args.baseline, args.files[0], record)
        gated = [_gated(text, *sides) for text in args.max_ratio]
        answer, status = costs_forms.gate(gated), int(any(over for *_, over in gated))
    elif args.before or args.after:
        if not (args.before and args.after) or args.files:
            raise BadInput("overhead", "", "--from and --to go together, without other files", "name both sides")
        answer = costs_forms.compare(*_sides(args.before, args.after, record))
    else:
        found = [_read(name, record) for name in args.files] or [*record.costs[-1:], record.times]
        counts = [each for each in found if isinstance(each, Costs)]
        times = [each for each in found if isinstance(each, Times)]
        if len(times) > 1 or (len(counts) > 1 and not args.record):
            raise BadInput("overhead", "", "two files of one sort where one is shown", "name one, or --from and --to")
        if args.record and args.files:
            write_record(merged(record, counts, *times), args.costs)
            print(one_line(str(args.costs)))
            return 0
        if args.record or not (counts or times):
            fault = "--record needs counts files" if args.record else "no costs are recorded"
            raise BadInput(args.costs, "", fault, COUNT)
        answer = costs_forms.show(counts[0] if counts else None, *times)
    forms.show(answer, costs_forms.FORMS, args.format)
    return status


def _read(name: str, record: Record) -> Costs | Times:
    """Return the recorded costs of a release, or what is in a file."""
    place = recorded_as(name, [(each.minor, each.torch) for each in record.costs])
    if place is not None:
        return record.costs[place]
    if not Path(name).exists() and not name.endswith(".json"):
        known = f"{record.costs[0].minor} to {record.costs[-1].minor}" if record.costs else "no releases"
        raise BadInput(name, "", "is neither a recorded release nor a file", f"recorded are {known}")
    return read(Path(name))


def _sides(before: str, after: str, record: Record) -> list[Costs]:
    """Return the two that are compared. Raises BadInput where they cannot be."""
    found = [(name, _read(name, record)) for name in (before, after)]
    for name, each in found:
        if isinstance(each, Times):
            raise BadInput(name, "", "holds times, which are never compared", COUNT)
    sides = [each for _, each in found if isinstance(each, Costs)]
    check(*sides)
    return sides


def _gated(text: str, before: Costs, after: Costs) -> tuple[CostChange, float, bool]:
    """Return how a kind changed, its limit, and whether it costs more than that."""
    kind, _, wanted = text.partition("=")
    kinds = [each for figure, each in after.figures if figure == HOOK]
    if kind not in kinds:
        hint = did_you_mean(kind, kinds) or f"known are {', '.join(kinds)}"
        raise BadInput("--max-ratio", "", f"no kind of hook is called {shown(kind)}", hint)
    try:
        limit = float(wanted)
    except ValueError:
        limit = math.nan
    if not 1 <= limit < math.inf:
        raise BadInput("--max-ratio", "", f"{shown(wanted)} is not a ratio of 1 or more", "write it as in forward=1.05")
    for costs in (before, after):
        why = costs.figures[HOOK, kind].why if (HOOK, kind) in costs.figures else "its counts do not have it"
        if why:
            raise BadInput(costs.where, "", f"{kind} is not counted on torch {costs.torch}: {why}", "take another kind")
    change = CostChange(before.figures[HOOK, kind], after.figures[HOOK, kind])
    more = change.after.added > limit * change.before.added
    return change, limit, more and change.beyond_noise and change.after.added > change.before.added
