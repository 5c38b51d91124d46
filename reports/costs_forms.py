"""The costs and their changes as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from reports.costs import Costs
from reports.costs_change import Change, changes, compared, margin, not_compared, unhooked
from reports.costs_recorded import document, rounded
from reports.costs_view import (
    BELOW,
    Table,
    calls,
    changed,
    counts,
    environment,
    noises,
    number,
    others,
    over_versions,
    sides,
    summary,
)
from reports.forms import as_json, escaped
from reports.strict import FORMAT


@dataclass(frozen=True)
class Comparison:
    """Two torches, and of recorded ones all versions from the one to the other."""

    before: Costs
    after: Costs
    sweep: tuple[Costs, ...] = ()

    @property
    def found(self) -> list[Change]:
        """What costs more or less on the second."""
        return changes(self.before, self.after)

    @property
    def tables(self) -> list[Table]:
        """The versions one by one, and what changed from each to the next."""
        return [table for table in (over_versions(self.sweep), changed(self.sweep)) if table.rows]


def _tables(costs: Costs) -> list[Table]:
    return [table for table in (calls(costs), counts(costs), others(costs), noises(costs)) if table.rows]


def _text(tables: Iterable[Table]) -> list[str]:
    lines = []
    for table in tables:
        cells = [table.heads, *((row.says, *row.cells) for row in table.rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(table.heads))]
        lines += ["", table.caption]
        lines += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    return lines


def _markdown(tables: Iterable[Table]) -> list[str]:
    lines = []
    for table in tables:
        lines += ["", f"**{table.caption}**", "", _line(table.heads), "|---" * len(table.heads) + "|"]
        lines += [_line((row.says, *row.cells)) for row in table.rows]
    return lines


def show_text(costs: Costs) -> str:
    """Return the costs for a terminal."""
    lines = [f"torch {costs.torch}: {environment(costs)}", "", *summary(costs), *_text(_tables(costs))]
    return "\n".join(lines) + "\n"


def show_markdown(costs: Costs) -> str:
    """Return the costs as tables for an issue or a pull request."""
    lines = [f"**torch {escaped(costs.torch)}**: {escaped(environment(costs))}", ""]
    lines += [f"* {escaped(sentence)}" for sentence in summary(costs)]
    return "\n".join([*lines, *_markdown(_tables(costs))]) + "\n"


def show_json(costs: Costs) -> str:
    """Return the costs as JSON: the recorded form, without what is below noise, and the sentences."""
    whole, below = document(costs), []
    for told, figure in zip(whole["figures"], costs.figures.values(), strict=True):
        for name in ("each", "weights"):
            told.pop(name, None)
        # The same work beside itself is not below the noise, it is the noise.
        if figure.values and figure.figure != "same" and costs.below_noise(figure):
            below.append(" ".join(map(str, figure.key)))
            told["values"] = {name: value if name == "control" else None for name, value in told["values"].items()}
    return as_json({**whole, "below_noise": sorted(below), "summary": summary(costs)})


def compare_text(found: Comparison) -> str:
    """Return the changes for a terminal."""
    lines = [_head(found), *(f"  {' '.join(words(change))}" for change in found.found), *_text(found.tables)]
    return "\n".join(lines) + "\n"


def compare_markdown(found: Comparison) -> str:
    """Return the changes as a table."""
    lines = [escaped(_head(found))]
    if found.found:
        lines += ["", "| figure | change | before | after |", "|---|---|---|---|"]
        lines += [_line(words(change)) for change in found.found]
    return "\n".join([*lines, *_markdown(found.tables)]) + "\n"


def compare_json(found: Comparison) -> str:
    """Return the changes as JSON."""
    versions = [
        {
            "torch": costs.minor,
            "plain_calls": {
                figure.hook: None if costs.below_noise(figure) else rounded(figure.values["plain_calls"])
                for figure in costs.figures.values()
                if (figure.figure, figure.workload) == ("call", "empty") and figure.values
            },
        }
        for costs in found.sweep
    ]
    neighbours = [_pair(*pair) for pair in pairwise(found.sweep)]
    whole = _pair(found.before, found.after)
    least = margin(found.before, found.after)
    return as_json({"format": FORMAT, "margin": least, **whole, "versions": versions, "neighbours": neighbours})


def _pair(before: Costs, after: Costs) -> dict[str, Any]:
    told = [
        {
            "figure": change.after.figure, "hook": change.after.hook, "workload": change.after.workload,
            "hooks": change.after.hooks, "unit": change.after.unit,
            "ratio": None if change.ratio is None else float(f"{change.ratio:.5g}"),
            "before": None if change.below[0] else rounded(change.old),
            "after": None if change.below[1] else rounded(change.new),
        }
        for change in changes(before, after)
    ]  # fmt: skip
    why = not_compared(before, after)
    works = None if why else float(f"{unhooked(before, after):.5g}")
    return {
        "before": before.torch, "after": after.torch, "not_compared": why or None,
        "compared": len(compared(before, after)), "works_without_hooks": works, "changes": told,
    }  # fmt: skip


def _head(found: Comparison) -> str:
    before, after = found.before, found.after
    why = not_compared(before, after)
    if why:
        return f"torch {before.torch} -> {after.torch}: {why}"
    least = f"{margin(before, after):.0%}"
    said = f"{len(found.found)} of {len(compared(before, after))} figures changed by more than {least}"
    return (
        f"torch {before.torch} -> {after.torch}: {said}; works without hooks: {number(unhooked(before, after))} times"
    )


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
