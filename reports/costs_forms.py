"""The costs and their changes as text, JSON and Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from reports.costs import Costs
from reports.costs_change import MARGIN, Change, unhooked
from reports.costs_recorded import document, rounded
from reports.costs_view import BELOW, Table, calls, counts, environment, number, others, sides, summary
from reports.forms import as_json, escaped
from reports.strict import FORMAT


@dataclass(frozen=True)
class Comparison:
    """Two torches and what costs more or less on the second."""

    before: Costs
    after: Costs
    found: list[Change]
    compared: int


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
    lines = [f"**torch {escaped(costs.torch)}**: {escaped(environment(costs))}", ""]
    lines += [f"* {escaped(sentence)}" for sentence in summary(costs)]
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
    return as_json({**document(costs), "below_noise": below, "summary": summary(costs)})


def compare_text(found: Comparison) -> str:
    """Return the changes for a terminal."""
    return "\n".join([_head(found), *(f"  {' '.join(words(change))}" for change in found.found)]) + "\n"


def compare_markdown(found: Comparison) -> str:
    """Return the changes as a table."""
    lines = [escaped(_head(found))]
    if found.found:
        lines += ["", "| figure | change | before | after |", "|---|---|---|---|"]
        lines += [_line(words(change)) for change in found.found]
    return "\n".join(lines) + "\n"


def compare_json(found: Comparison) -> str:
    """Return the changes as JSON."""
    told = [
        {
            "figure": change.after.figure, "hook": change.after.hook, "workload": change.after.workload,
            "hooks": change.after.hooks, "unit": change.after.unit,
            "ratio": None if change.ratio is None else float(f"{change.ratio:.5g}"),
            "before": None if change.below[0] else rounded(change.old),
            "after": None if change.below[1] else rounded(change.new),
        }
        for change in found.found
    ]  # fmt: skip
    head = {"format": FORMAT, "before": found.before.torch, "after": found.after.torch, "compared": found.compared}
    works = float(f"{unhooked(found.before, found.after):.5g}")
    return as_json({**head, "margin": MARGIN, "works_without_hooks": works, "changes": told})


def _head(found: Comparison) -> str:
    count = len(found.found)
    python = ""
    if found.before.environment["python"] != found.after.environment["python"]:
        python = f" (Python {found.before.environment['python']} -> {found.after.environment['python']} too)"
    said = f"{count} of {found.compared} figures changed by more than {MARGIN:.0%}"
    works = f"works without hooks: {number(unhooked(found.before, found.after))} times"
    return f"torch {found.before.torch} -> {found.after.torch}{python}: {said}; {works}"


def words(change: Change) -> tuple[str, str, str, str]:
    """Return one change as figure, ratio, and what was added before, set right by the works without hooks, and now."""
    figure = change.after
    name = f"{figure.figure} {figure.hook} on {figure.workload}:"
    ratio = f"{number(change.ratio)} times," if change.ratio else "no ratio,"
    old, new = (side if side == BELOW else f"{side} {figure.unit}" for side in sides(change))
    return name, ratio, f"{old} ->", new


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


SHOW = {"text": show_text, "json": show_json, "markdown": show_markdown}
COMPARE = {"text": compare_text, "json": compare_json, "markdown": compare_markdown}
