"""The verb overhead: what hooks cost on one torch, what changed between two, and a gate for a build of one's own."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.costs import Costs, from_run
from reports.costs_change import MARGIN, Change, changes, check_comparable, comparable
from reports.costs_recorded import COSTS, document, read_costs, record, rounded
from reports.costs_view import Table, calls, counts, environment, interval, number, others, summary
from reports.runfile import read_run
from reports.strict import FORMAT, BadInput, one_line, shown

MEASURE = "measure this machine: python -m suites.timing"


@dataclass(frozen=True)
class Comparison:
    """Two torches and what costs more or less on the second."""

    before: Costs
    after: Costs
    found: list[Change]
    compared: int


def add_parser(sub: Any) -> None:
    """Add the verb overhead to the command line."""
    says = "show what hooks cost, from the recorded costs or from runs of python -m suites.timing"
    parser = sub.add_parser("overhead", help=says, description=says[0].upper() + says[1:] + ".")
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUNFILE")
    parser.add_argument("--from", dest="before", metavar="A", help="a recorded minor version or a run file")
    parser.add_argument("--to", dest="after", metavar="B", help="a recorded minor version or a run file")
    parser.add_argument("--format", choices=sorted(FORMATS), default="text")
    parser.add_argument("--record", action="store_true", help="record these runs, one sweep, in place of the last")
    parser.add_argument("--baseline", metavar="A", help="what the gate compares with: a run file of this machine")
    parser.add_argument(
        "--overhead-max-ratio", action="append", default=[], metavar="KIND=1.3",
        help="exit 1 when that kind costs more times the baseline, its intervals apart; repeatable",
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
        for path in record([read_side(str(path), []) for path in args.runs], args.costs):
            print(one_line(str(path)))
        return 0
    recorded = read_costs(args.costs)
    if args.before or args.after:
        return _compare(args, recorded)
    sides = [read_side(str(path), []) for path in args.runs] or recorded[-1:]
    if not sides:
        raise BadInput(args.costs, "", "no costs are recorded", MEASURE)
    _print("\n".join(FORMATS[args.format].show(side) for side in sides))
    return 0


def _compare(args: argparse.Namespace, recorded: list[Costs]) -> int:
    if not (args.before and args.after) or args.runs:
        raise BadInput("overhead", "", "--from and --to go together, without run files beside", "name both sides")
    before, after = (read_side(name, recorded) for name in (args.before, args.after))
    check_comparable(before, after, sweep=before in recorded and after in recorded)
    comparison = Comparison(before, after, changes(before, after), len(comparable(before, after)))
    _print(FORMATS[args.format].compare(comparison))
    return 0


def _gate(args: argparse.Namespace) -> int:
    """Return 1 where a kind costs more than it may."""
    if not args.baseline or not args.overhead_max_ratio or len(args.runs) != 1:
        fault = "a gate needs one run file, --baseline and --overhead-max-ratio"
        raise BadInput(
            "overhead", "", fault, "such as: NEW.jsonl --baseline OLD.jsonl --overhead-max-ratio forward=1.3"
        )
    before = read_side(args.baseline, read_costs(args.costs))
    after = read_side(str(args.runs[0]), [])
    check_comparable(before, after)
    limits = [_limit(text, before, after) for text in args.overhead_max_ratio]
    status = 0
    for kind, limit in limits:
        over = [
            change for change in changes(before, after, limit - 1) if change.after.key == ("call", kind, "empty", 1)
        ]
        found = Change(before.figures["call", kind, "empty", 1], after.figures["call", kind, "empty", 1])
        failed = bool(over) and found.ratio > limit
        status = max(status, int(failed))
        _print(f"{kind}: {number(found.ratio)} times the baseline, {'over' if failed else 'within'} {limit:g}\n")
    return status


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
    if not 1 + MARGIN <= limit <= 1e6:
        fault = f"{shown(wanted)} is no ratio of {1 + MARGIN:g} or more"
        raise BadInput("--overhead-max-ratio", "", fault, "write it as in forward=1.3")
    for costs in (before, after):
        figure = costs.figures.get(("call", kind, "empty", 1))
        if figure is None or figure.absent or costs.below_noise(figure):
            why = "was not measured" if figure is None else "is absent" if figure.absent else "is below noise"
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
    return from_run(read_run(path))


def _print(text: str) -> None:
    print("\n".join(one_line(line) for line in text.split("\n")), end="")


def _tables(costs: Costs) -> list[Table]:
    return [table for table in (calls(costs), counts(costs), others(costs)) if table.rows]


def show_text(costs: Costs) -> str:
    """Return the costs for a terminal."""
    lines = [f"torch {costs.torch}: {environment(costs)}", "", *summary(costs)]
    for table in _tables(costs):
        cells = [table.heads, *((row.says, *row.cells) for row in table.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(table.heads))]
        lines += ["", table.caption]
        lines += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return "\n".join(lines) + "\n"


def show_markdown(costs: Costs) -> str:
    """Return the costs as tables for an issue or a pull request."""
    lines = [f"**torch {_escaped(costs.torch)}**: {_escaped(environment(costs))}", ""]
    lines += [f"* {_escaped(sentence)}" for sentence in summary(costs)]
    for table in _tables(costs):
        lines += ["", f"**{table.caption}**", "", _line(table.heads), "|---" * len(table.heads) + "|"]
        lines += [_line((row.says, *row.cells)) for row in table.rows]
    return "\n".join(lines) + "\n"


def show_json(costs: Costs) -> str:
    """Return the costs as JSON: the recorded form, and the sentences."""
    noise = {
        " ".join(map(str, figure.key)): costs.below_noise(figure) for figure in costs.figures.values() if figure.values
    }
    below = sorted(name for name, under in noise.items() if under)
    return json.dumps({**document(costs), "below_noise": below, "summary": summary(costs)}, indent=1) + "\n"


def compare_text(found: Comparison) -> str:
    """Return the changes for a terminal."""
    return "\n".join([_head(found), *(f"  {' '.join(words(change))}" for change in found.found)]) + "\n"


def compare_markdown(found: Comparison) -> str:
    """Return the changes as a table."""
    lines = [_escaped(_head(found))]
    if found.found:
        lines += ["", "| figure | change | before | after |", "|---|---|---|---|"]
        lines += [_line(words(change)) for change in found.found]
    return "\n".join(lines) + "\n"


def compare_json(found: Comparison) -> str:
    """Return the changes as JSON."""
    told = [
        {
            "figure": change.after.figure, "hook": change.after.hook, "workload": change.after.workload,
            "hooks": change.after.hooks, "unit": change.after.unit, "ratio": float(f"{change.ratio:.5g}"),
            "before": rounded(change.before.values["added"]), "after": rounded(change.after.values["added"]),
        }
        for change in found.found
    ]  # fmt: skip
    head = {"format": FORMAT, "before": found.before.torch, "after": found.after.torch, "compared": found.compared}
    return json.dumps({**head, "margin": MARGIN, "changes": told}, indent=1) + "\n"


def _head(found: Comparison) -> str:
    count = len(found.found)
    python = ""
    if found.before.environment["python"] != found.after.environment["python"]:
        python = f" (Python {found.before.environment['python']} -> {found.after.environment['python']} too)"
    said = f"{count} of {found.compared} figures changed by more than {MARGIN:.0%}"
    return f"torch {found.before.torch} -> {found.after.torch}{python}: {said}"


def words(change: Change) -> tuple[str, str, str, str]:
    """Return one change as figure, ratio, and what was added before and after."""
    figure = change.after
    name = f"{figure.figure} {figure.hook} on {figure.workload}:"
    old, new = (f"{interval(each.values['added'])} {figure.unit}" for each in (change.before, change.after))
    return name, f"{number(change.ratio)} times,", f"{old} ->", new


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return "".join("\\" + sign if sign in "\\`*_[]<>|#" else sign for sign in text)


@dataclass(frozen=True)
class Format:
    """One way to print costs and comparisons."""

    show: Callable[[Costs], str]
    compare: Callable[[Comparison], str]


FORMATS = {
    "text": Format(show_text, compare_text),
    "json": Format(show_json, compare_json),
    "markdown": Format(show_markdown, compare_markdown),
}
