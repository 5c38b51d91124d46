"""The chapter on costs: a line for each kind of hook, what changed from release to release, and the table of all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from reports.costs.change import LEAST, PULL, PULLS, changes, why_not
from reports.costs.counts import HOOK, NOT_COUNTED, Costs, Figure
from reports.costs.forms import counts_table, number, times_table
from reports.costs.recorded import Record
from reports.data.neighbours import from_to, neighbours

WIDTH, HEIGHT, EDGE = 240.0, 56.0, 4.0
#: What is added to, and the passes that are that.
UNITS = (
    ("Added to one call", ("forward",)),
    ("Added to one call and its backward", ("both", "leaf")),
    ("Added to one step of an optimizer", ("step",)),
    ("Added to making a state dict", ("state_dict", "optimizer_state_dict")),
    ("Added to loading a state dict", ("load", "optimizer_load")),
    (
        "Added to registering a parameter, buffer or module",
        ("register_parameter", "register_buffer", "register_module"),
    ),
)


def chapter(record: Record) -> dict[str, Any] | None:
    """Return what the template asks for, nothing where no hook was counted."""
    costs = record.costs
    kinds = {figure.kind: figure for one in costs for figure in one.figures.values() if figure.figure == HOOK}
    if not kinds:
        return None
    groups = [(says, [each for each in kinds.values() if each.work in works]) for says, works in UNITS]
    cuts = [at for at in range(1, len(costs)) if costs[at].build != costs[at - 1].build]
    forward = costs[-1].figures.get((HOOK, "forward"))
    return {
        "seeds": costs[-1].seeds,
        "forward": forward if forward and not forward.why else None,
        "releases": [one.minor for one in costs],
        "cuts": cuts,
        "builds": [
            (f"Python {costs[at].python}", end - at) for at, end in zip([0, *cuts], [*cuts, len(costs)], strict=True)
        ],
        "groups": [(says, [_row(each, costs) for each in found]) for says, found in groups if found],
        "plot": {"width": WIDTH, "height": HEIGHT, "zero": HEIGHT - EDGE},
        "breaks": [round((_x(at - 1, costs) + _x(at, costs)) / 2, 1) for at in cuts],
        "missing": [text for each in kinds.values() for text in _missing(each, costs)],
        "least": f"{LEAST:.0%}".replace("%", " %"),
        "steps": _steps(costs),
        "pull": PULL,
        "more": counts_table(costs[-1]),
        "times": times_table(record.times) if record.times else None,
    }


def _x(at: int, costs: Sequence[Costs]) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * (at / (len(costs) - 1) if len(costs) > 1 else 0.5)


def _row(kind: Figure, costs: Sequence[Costs]) -> dict[str, Any]:
    """Return one kind of hook over the releases: cells in thousands, and a line in pieces that can be compared."""
    found = [one.figures.get(kind.key) for one in costs]
    seen = [(at, figure) for at, figure in enumerate(found) if figure and not figure.why]
    top = max((figure.added for _, figure in seen), default=0.0) or 1.0
    places = {
        at: (round(_x(at, costs), 1), round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * max(figure.added, 0) / top, 1))
        for at, figure in seen
    }
    # Neighbours that can be compared: their places are in step, and their builds are one.
    pieces = groupby(enumerate(places), lambda each: (each[1] - each[0], tuple(costs[each[1]].build.values())))
    lines = [" ".join("{},{}".format(*places[at]) for _, at in piece) for _, piece in pieces]
    ends = [
        f"{figure.added:,.0f} on {costs[at].minor}" for at, figure in (seen if len(seen) < 2 else [seen[0], seen[-1]])
    ]
    return {
        "says": kind.says,
        "cells": [number(figure.added / 1000) if figure and not figure.why else "" for figure in found],
        "lines": [line for line in lines if " " in line],
        "dots": list(places.values()),
        "ends": ", ".join(ends) or NOT_COUNTED,
    }


def _missing(kind: Figure, costs: Sequence[Costs]) -> list[str]:
    """Return why a kind was not counted, and on which releases."""
    found = []
    for why, run in neighbours(
        costs, lambda one: one.figures[kind.key].why if kind.key in one.figures else "not tried"
    ):
        if why:
            found.append(f"{kind.says}, on {from_to(run[0].minor, run[-1].minor)}: {why}")
    return found


def _steps(costs: Sequence[Costs]) -> list[tuple[str, str, list[tuple[str, ...]]]]:
    """Return what changed, the newest release first: why nothing is compared, or each change with its pull request."""
    found = []
    for before, after in reversed([*pairwise(costs)]):
        why = why_not(before, after)
        rows = [
            (each.after.says, each.percent, *each.sides, str(PULLS.get((after.minor, each.after.kind), "")))
            for each in ([] if why else changes(before, after))
            if each.after.figure == HOOK
        ]
        if rows or why:
            found.append((f"{before.minor} → {after.minor}", why, rows))
    return found
