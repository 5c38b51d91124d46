"""The verb overhead: what hooks cost on one torch, what changed between two, and a gate for a build of one's own."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports import costs_forms, forms
from reports.costs import COUNT, Costs, read
from reports.costs_change import Change, check
from reports.costs_recorded import COSTS, Record, merged, read_record, write_record
from reports.costs_times import Times
from reports.names import did_you_mean
from reports.strict import BadInput, one_line, shown

EPILOG = (
    "exit status: 0 shown or within the limit, 1 a kind of hook costs more than it may, 2 a file cannot be used.\n"
    "example: python -m reports overhead new.json --baseline old.json --max-ratio forward=1.05"
)
GATE_HINT = "such as: NEW.json --baseline OLD.json --max-ratio forward=1.05"


def add_parser(sub: Any) -> None:
    """Add the verb overhead to the command line."""
    says = "show what hooks cost: as recorded of a release, or as python -m suites.timing counted it"
    parser = sub.add_parser(
        "overhead", help=says, description=says[0].upper() + says[1:] + ".", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    file = "a counts file, or a recorded release"
    parser.add_argument("files", nargs="*", metavar="FILE", help=f"{file}, and perhaps JSON of pytest-benchmark")
    parser.add_argument("--from", dest="before", metavar="A", help=file)
    parser.add_argument("--to", dest="after", metavar="B", help=f"{file}: what changed from A to B")
    parser.add_argument("--baseline", metavar="A", help=f"what the gate compares with: {file}")
    parser.add_argument(
        "--max-ratio", action="append", default=[], metavar="KIND=1.05",
        help="exit 1 when that kind costs more than so many times the baseline; repeatable",
    )  # fmt: skip
    parser.add_argument("--record", action="store_true", help="record these files in place of the same releases")
    forms.add_format(parser, costs_forms.FORMS)
    parser.add_argument("--costs", type=Path, default=COSTS, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show, compare, record or gate."""
    gate, compare = bool(args.baseline or args.max_ratio), bool(args.before or args.after)
    if gate + compare + args.record > 1:
        raise BadInput("overhead", "", "--record, --from and --to, and --baseline do not go together", "take one")
    record = read_record(args.costs)
    if gate:
        return _gate(args, record)
    if compare:
        if not (args.before and args.after) or args.files:
            raise BadInput("overhead", "", "--from and --to go together, without other files", "name both sides")
        before, after = (_counts(name, record) for name in (args.before, args.after))
        check(before, after)
        forms.show(costs_forms.compare(before, after), costs_forms.FORMS, args.format)
        return 0
    counts, times = _split([_read(name, record) for name in args.files])
    if args.record:
        if not args.files:
            raise BadInput("overhead", "", "--record needs counts files", COUNT)
        write_record(merged(record, counts, times), args.costs)
        print(one_line(str(args.costs)))
        return 0
    if len(counts) > 1:
        raise BadInput("overhead", "", f"{len(counts)} counts files where one is shown", "name one, or --from and --to")
    if not (args.files or record.costs):
        raise BadInput(args.costs, "", "no costs are recorded", COUNT)
    if not args.files:
        counts, times = [record.costs[-1]], record.times
    forms.show(costs_forms.show(counts[0] if counts else None, times), costs_forms.FORMS, args.format)
    return 0


def _split(found: Sequence[Costs | Times]) -> tuple[list[Costs], Times | None]:
    times = [each for each in found if isinstance(each, Times)]
    if len(times) > 1:
        raise BadInput(times[1].where, "", "is a second file of times", "name one")
    return [each for each in found if isinstance(each, Costs)], times[0] if times else None


def _read(name: str, record: Record) -> Costs | Times:
    """Return the recorded costs of a release, or what is in a file."""
    path, recorded = Path(name), record.named(name)
    if recorded:
        return recorded
    if not path.exists() and path.suffix != ".json":
        known = f"{record.costs[0].minor} to {record.costs[-1].minor}" if record.costs else "no releases"
        raise BadInput(name, "", "is neither a recorded release nor a file", f"recorded are {known}")
    return read(path)


def _counts(name: str, record: Record) -> Costs:
    found = _read(name, record)
    if isinstance(found, Times):
        raise BadInput(name, "", "holds times, which are never compared", COUNT)
    return found


def _gate(args: argparse.Namespace, record: Record) -> int:
    """Return 1 where a kind costs more than it may."""
    if not args.baseline or not args.max_ratio or len(args.files) != 1:
        raise BadInput("overhead", "", "a gate needs one counts file, --baseline and --max-ratio", GATE_HINT)
    before, after = _counts(args.baseline, record), _counts(args.files[0], record)
    check(before, after)
    gated = [_gated(text, before, after) for text in args.max_ratio]
    forms.show(costs_forms.gate(gated), costs_forms.FORMS, args.format)
    return int(any(over for *_, over in gated))


def _gated(text: str, before: Costs, after: Costs) -> tuple[Change, float, bool]:
    """Return how a kind changed, its limit, and whether it costs more than that."""
    kind, _, wanted = text.partition("=")
    kinds = [each for figure, each in after.figures if figure == "hook"]
    if kind not in kinds:
        hint = did_you_mean(kind, kinds) or f"known are {', '.join(kinds)}"
        raise BadInput("--max-ratio", "", f"no kind of hook is called {shown(kind)}", hint)
    try:
        limit = float(wanted)
    except ValueError:
        limit = math.nan
    if not 1 <= limit < math.inf:
        raise BadInput("--max-ratio", "", f"{shown(wanted)} is no ratio of 1 or more", "write it as in forward=1.05")
    sides = []
    for costs in (before, after):
        figure = costs.figures.get(("hook", kind))
        if figure is None or figure.why:
            why = figure.why if figure else "its counts do not have it"
            raise BadInput(costs.where, "", f"{kind} is not counted on torch {costs.torch}: {why}", "take another kind")
        sides.append(figure)
    change = Change(*sides)
    more = change.after.added > limit * change.before.added
    return change, limit, more and change.above_floor and change.after.added > change.before.added
