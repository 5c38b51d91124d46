"""The verb overhead: what hooks cost on one torch, what changed between two, and a gate for a build of one's own."""

from __future__ import annotations

import argparse
import difflib
from pathlib import Path
from typing import Any

from reports import forms
from reports.costs import Costs, from_run
from reports.costs_change import Change, check_comparable, compare, crowded, margin, not_compared, unhooked
from reports.costs_forms import COMPARE, SHOW, Comparison
from reports.costs_recorded import COSTS, read_costs, record
from reports.costs_view import BELOW, number, sides
from reports.runfile import read_run
from reports.strict import BadInput, one_line, shown

EPILOG = (
    "exit status: 0 shown or within the limit, 1 a kind of hook costs more than it may, 2 a file cannot be read.\n"
    "example: python -m reports overhead new.jsonl --baseline old.jsonl --overhead-max-ratio forward=1.3"
)
GATE = "such as: NEW.jsonl --baseline OLD.jsonl --overhead-max-ratio forward=1.3"
MEASURE = "measure this machine: python -m suites.timing"


def add_parser(sub: Any) -> None:
    """Add the verb overhead to the command line."""
    says = "show what hooks cost, from the recorded costs or from runs of python -m suites.timing"
    parser = sub.add_parser(
        "overhead", help=says, description=says[0].upper() + says[1:] + ".", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUNFILE")
    parser.add_argument("--from", dest="before", metavar="A", help="a recorded minor version or a run file")
    parser.add_argument("--to", dest="after", metavar="B", help="a recorded minor version or a run file")
    forms.add_format(parser, SHOW)
    parser.add_argument(
        "--record", action="store_true",
        help="record these runs, and recorded versions that stay, as one sweep in place of the last",
    )  # fmt: skip
    parser.add_argument("--baseline", metavar="A", help="what the gate compares with: a run file of this machine")
    parser.add_argument(
        "--overhead-max-ratio", action="append", default=[], metavar="KIND=1.3",
        help="exit 1 when that kind surely costs more than so many times the baseline; repeatable",
    )  # fmt: skip
    parser.add_argument("--costs", type=Path, default=COSTS, help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show, compare, record or gate."""
    if args.baseline or args.overhead_max_ratio:
        return _gate(args)
    if args.record:
        if not args.runs:
            raise BadInput("overhead", "", "--record needs run files", "name those of the sweep")
        kept = [] if all(path.exists() for path in args.runs) else read_costs(args.costs)
        sweep = [read_side(str(path), kept) for path in args.runs]
        for path in record(sweep, args.costs):
            print(one_line(str(path)))
        for costs in crowded(sweep):
            print(f"torch {costs.torch}: somebody else used the machine beside it; measure it again, and record")
        return 0
    recorded = read_costs(args.costs)
    if args.before or args.after:
        return _compare(args, recorded)
    if len(args.runs) > 1:
        raise BadInput("overhead", "", f"{len(args.runs)} run files where one is shown", "name one, or --from and --to")
    if not (args.runs or recorded):
        raise BadInput(args.costs, "", "no costs are recorded", MEASURE)
    forms.show(read_side(str(args.runs[0]), recorded) if args.runs else recorded[-1], SHOW, args.format)
    return 0


def _compare(args: argparse.Namespace, recorded: list[Costs]) -> int:
    if not (args.before and args.after) or args.runs:
        raise BadInput("overhead", "", "--from and --to go together, without run files beside", "name both sides")
    before, after = (read_side(name, recorded) for name in (args.before, args.after))
    known = before in recorded and after in recorded
    check_comparable(before, after, sweep=known)
    first, last = sorted((before.version, after.version))
    sweep = tuple(
        costs for costs in recorded if known and costs.sweep == before.sweep and first <= costs.version <= last
    )
    forms.show(Comparison(before, after, sweep), COMPARE, args.format)
    return 0


def _gate(args: argparse.Namespace) -> int:
    """Return 1 where a kind costs more than it may."""
    if not args.baseline or not args.overhead_max_ratio or len(args.runs) != 1:
        fault = "a gate needs one run file, --baseline and --overhead-max-ratio"
        raise BadInput("overhead", "", fault, GATE)
    if args.before or args.after or args.record or args.format != "text":
        fault = "a gate answers in text, and neither compares nor records"
        raise BadInput("overhead", "", fault, "leave out --format, --from, --to and --record")
    recorded = read_costs(args.costs)
    before, after = read_side(args.baseline, recorded), read_side(str(args.runs[0]), recorded)
    check_comparable(before, after)
    why = not_compared(before, after)
    if why:
        where = next((costs.where for costs in crowded([before, after])), after.where)
        raise BadInput(where, "", why, "measure both again, with one Python and while nobody else uses the machine")
    limits = [_limit(text, before, after) for text in args.overhead_max_ratio]
    works = unhooked(before, after)
    print(f"works without hooks: {number(works)} times the baseline; what hooks add is told beside that")
    verdicts = [_gated(kind, limit, compare(before, after, ("call", kind, "empty", 1))) for kind, limit in limits]
    for _, says in verdicts:
        print(says)
    return int(any(over for over, _ in verdicts))


def _gated(kind: str, limit: float, change: Change) -> tuple[bool, str]:
    """Say whether a kind costs more than it may, for sure, and in words."""
    over = change.over(limit)
    said = f"{'over' if over else 'within'} {limit:g}"
    if change.below[1]:
        hides = not change.below[0] and max(change.noise, change.new.high) > limit * change.old.mid
        return False, f"{kind}: {BELOW}, " + (f"which hides more than {limit:g} times the baseline" if hides else said)
    if change.ratio is None:
        return over, f"{kind}: {' -> '.join(sides(change))} ns, {said} times what the noise could hide"
    if change.ratio > limit and not over:
        said = f"over {limit:g}, but not surely: the intervals allow less, or the works without hooks changed"
    return over, f"{kind}: {number(change.ratio)} times the baseline, {said}"


def _limit(text: str, before: Costs, after: Costs) -> tuple[str, float]:
    kind, _, wanted = text.partition("=")
    kinds = [hook for figure, hook, workload, _ in before.figures if figure == "call" and workload == "empty"]
    if kind not in kinds:
        close = difflib.get_close_matches(kind, kinds, n=1)
        mend = f"did you mean {close[0]}?" if close else f"known are {', '.join(kinds)}"
        raise BadInput("--overhead-max-ratio", "", f"no kind of hook is called {shown(kind)}", mend)
    try:
        limit = float(wanted)
    except ValueError:
        limit = 0.0
    least = 1 + margin(before, after)
    if not least <= limit <= 1e6:
        fault = f"{shown(wanted)} is no ratio of {least:g} or more"
        raise BadInput("--overhead-max-ratio", "", fault, "write it as in forward=1.3")
    for costs in (before, after):
        figure = costs.figures.get(("call", kind, "empty", 1))
        if figure is None or figure.absent or figure.slow:
            why = "was not measured" if figure is None else "is absent"
            if figure and figure.slow:
                why = "was measured while the processor was slow"
            raise BadInput(costs.where, "", f"{kind} {why} on torch {costs.torch}", "take another kind, or " + MEASURE)
    return kind, limit


def read_side(name: str, recorded: list[Costs]) -> Costs:
    """Return the recorded costs of a minor version, or those of a run file."""
    for costs in recorded:
        if name in (costs.minor, costs.torch):
            return costs
    path = Path(name)
    if not path.exists() and not path.suffix.startswith(".j"):
        known = ", ".join(costs.minor for costs in recorded) or "none"
        raise BadInput(name, "", "is neither a recorded version nor a run file", f"recorded are {known}")
    return from_run(read_run(path, timings=True))
