"""The chapter on costs: what changed from release to release, a line for each kind of hook, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from reports.costs import Costs, Figure
from reports.costs_change import PULL, PULLS, steps
from reports.costs_forms import Table, counts_table, how_timed, number, remarks, times_table
from reports.costs_recorded import Record

WIDTH, HEIGHT, EDGE = 240.0, 56.0, 4.0
UNITS = (("Added to one call", True), ("Added to one call and its backward", False))


@dataclass(frozen=True)
class Column:
    """A release, and whether it was counted with another build of Python than the one before."""

    minor: str
    cut: bool


@dataclass(frozen=True)
class Row:
    """One kind of hook over the releases: cells in thousands, and a line in pieces that can be compared."""

    says: str
    cells: tuple[str, ...]
    lines: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    ends: str


@dataclass(frozen=True)
class Step:
    """What changed at one release: nothing to compare, or hook, change, before, after and the pull request."""

    releases: str
    why: str
    changes: tuple[tuple[str, str, str, str, str], ...]


@dataclass(frozen=True)
class Chapter:
    """All that the page says of costs."""

    torch: str
    forward: Figure | None
    seeds: int
    columns: tuple[Column, ...]
    builds: tuple[tuple[str, int], ...]  # the Python, and of how many releases
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    breaks: tuple[float, ...]
    missing: tuple[str, ...]
    steps: tuple[Step, ...]
    more: Table
    remarks: tuple[str, ...]
    times: Table | None
    how_timed: str
    width: float = WIDTH
    height: float = HEIGHT
    zero: float = HEIGHT - EDGE
    pull: str = PULL


def chapter(record: Record) -> Chapter | None:
    """Return the chapter, nothing where no hook was counted."""
    costs = record.costs
    kinds = {figure.kind: figure for one in costs for figure in one.figures.values() if figure.figure == "hook"}
    if not kinds:
        return None
    cuts = [at > 0 and costs[at].build != costs[at - 1].build for at in range(len(costs))]
    groups = [(says, [each for each in kinds.values() if (each.work == "forward") == once]) for says, once in UNITS]
    forward = costs[-1].figures.get(("hook", "forward"))
    return Chapter(
        torch=costs[-1].minor,
        forward=forward if forward and not forward.why else None,
        seeds=costs[-1].seeds,
        columns=tuple(Column(one.minor, cut) for one, cut in zip(costs, cuts, strict=True)),
        builds=tuple(_builds(costs, [0, *(at for at, cut in enumerate(cuts) if cut), len(costs)])),
        groups=tuple((says, tuple(_row(each, costs) for each in found)) for says, found in groups if found),
        breaks=tuple(round((_x(at - 1, costs) + _x(at, costs)) / 2, 1) for at, cut in enumerate(cuts) if cut),
        missing=tuple(text for each in kinds.values() for text in _missing(each, costs)),
        steps=tuple(_steps(costs)),
        more=counts_table(costs[-1]),
        remarks=tuple(remarks(costs[-1])),
        times=times_table(record.times) if record.times else None,
        how_timed=how_timed(record.times) if record.times else "",
    )


def _builds(costs: Sequence[Costs], bounds: Sequence[int]) -> Iterator[tuple[str, int]]:
    for at, end in pairwise(bounds):
        same = at and costs[at].python == costs[at - 1].python
        yield f"{'another build of ' if same else ''}Python {costs[at].python}", end - at


def _x(at: int, costs: Sequence[Costs]) -> float:
    return EDGE + (WIDTH - 2 * EDGE) * (at / (len(costs) - 1) if len(costs) > 1 else 0.5)


def _row(kind: Figure, costs: Sequence[Costs]) -> Row:
    found = [(one, one.figures.get(kind.key)) for one in costs]
    seen = [(at, one, figure) for at, (one, figure) in enumerate(found) if figure and not figure.why]
    top = max((figure.added for *_, figure in seen), default=0.0) or 1.0
    places = {
        at: (round(_x(at, costs), 1), round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * max(figure.added, 0) / top, 1))
        for at, _, figure in seen
    }
    pieces = groupby(enumerate(seen), lambda each: (each[1][0] - each[0], tuple(each[1][1].build.values())))
    lines = tuple(" ".join("{},{}".format(*places[at]) for _, (at, *_) in piece) for _, piece in pieces)
    ends = [f"{figure.added:,.0f} on {one.minor}" for _, one, figure in (seen[:1] + seen[-1:] if seen[1:] else seen)]
    return Row(
        kind.says,
        tuple(number(figure.added / 1000) if figure and not figure.why else "" for _, figure in found),
        tuple(line for line in lines if " " in line),
        tuple(places.values()),
        ", ".join(ends) or "not counted",
    )


def _missing(kind: Figure, costs: Sequence[Costs]) -> list[str]:
    """Return why a kind was not counted, and on which releases."""
    reasons: dict[str, list[str]] = {}
    for one in costs:
        figure = one.figures.get(kind.key)
        why = figure.why if figure else "their counts do not have it"
        if why:
            reasons.setdefault(why, []).append(one.minor)
    spans = {why: on[0] if len(on) == 1 else f"{on[0]} to {on[-1]}" for why, on in reasons.items()}
    return [f"{kind.says}, on {span}: {why}" for why, span in spans.items()]


def _steps(costs: Sequence[Costs]) -> list[Step]:
    """Return what changed, the newest release first."""
    found = []
    for before, after, why, changes in reversed(steps(costs)):
        rows = tuple(
            (each.after.says, each.percent, f"{each.before.added:,.0f}", f"{each.after.added:,.0f}",
             str(PULLS.get((after.minor, each.after.kind), "")))
            for each in changes
        )  # fmt: skip
        if rows or why:
            found.append(Step(f"{before.minor} → {after.minor}", why, rows))
    return found
