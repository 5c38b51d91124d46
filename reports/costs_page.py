"""The chapter on costs: a line over the torch versions for each kind of hook, a table beside it, and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.costs import Costs
from reports.costs_change import crowded, python
from reports.costs_stats import Estimate
from reports.costs_view import Table, calls, cell, changed, counts, environment, noises, number, others, summary

WIDTH, HEIGHT = 320.0, 126.0
#: Half of the last version's name stands right of its point; a line of names is as high as any font makes it.
LEFT, RIGHT, TOP, BOTTOM = 44.0, 16.0, 20.0, 20.0
NAMES_ABOVE, NAMES_BELOW = 15.0, HEIGHT - 6.0  # where the letters stand
LABELS = 5  # versions named below a chart


@dataclass(frozen=True)
class Mark:
    """A place on an axis and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """One kind of hook over the versions, as points of an SVG and as a table."""

    hook: str
    says: str
    alt: str
    lines: tuple[str, ...]
    bands: tuple[str, ...]
    bars: tuple[tuple[float, float, float], ...]  # x, and y of both ends: a version alone has no width for a band
    dots: tuple[tuple[float, float], ...]
    columns: tuple[Mark, ...]
    levels: tuple[Mark, ...]
    pythons: tuple[Mark, ...]
    rows: tuple[tuple[str, str, str], ...]  # torch, Python, cost


@dataclass(frozen=True)
class Frame:
    """The places that all charts share."""

    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    top: float = TOP
    bottom: float = HEIGHT - BOTTOM
    above: float = NAMES_ABOVE
    below: float = NAMES_BELOW


@dataclass(frozen=True)
class Chapter:
    """All that the page says of costs."""

    torch: str
    environment: str
    measured: str
    frame: Frame
    sentences: tuple[str, ...]
    crowded: tuple[str, ...]  # the versions beside which somebody else used the machine
    charts: tuple[Chart, ...]
    tables: tuple[Table, ...]


def chapter(recorded: Sequence[Costs]) -> Chapter | None:
    """Return the chapter on the newest sweep, nothing where none was recorded, or no hook in it."""
    if not recorded:
        return None
    newest = max(costs.sweep for costs in recorded)
    sweep = [costs for costs in recorded if costs.sweep == newest]
    last = sweep[-1]
    hooks = {
        figure.hook: figure.says
        for costs in sweep
        for figure in costs.figures.values()
        if (figure.figure, figure.workload) == ("call", "empty")
    }
    if not hooks:
        return None
    return Chapter(
        torch=last.minor,
        environment=environment(last),
        measured=newest[:10],
        frame=Frame(),
        sentences=tuple(summary(last)),
        crowded=tuple(costs.minor for costs in crowded(sweep)),
        charts=tuple(chart(hook, says, sweep) for hook, says in hooks.items()),
        tables=tuple(
            table for table in (changed(sweep), calls(last), counts(last), others(last), noises(last)) if table.rows
        ),
    )


def chart(hook: str, says: str, sweep: Sequence[Costs]) -> Chart:
    """Return the chart of one kind of hook on the empty module."""
    key = ("call", hook, "empty", 1)
    values = [_value(costs, hook) for costs in sweep]
    top = max((value.high for value in values if value), default=0.0) or 1.0
    across = [_x(index, len(sweep)) for index in range(len(sweep))]
    runs = _runs(values)
    return Chart(
        hook=hook,
        says=says,
        alt=_alt(says, sweep, values),
        lines=tuple(_line(run, across, values, top) for run in runs if len(run) > 1),
        bands=tuple(_band(run, across, values, top) for run in runs if len(run) > 1),
        bars=tuple(
            (round(across[at], 1), round(_y(value.high, top), 1), round(_y(value.low, top), 1))
            for at, *more in runs
            if not more and (value := values[at])
        ),
        dots=tuple((round(across[at], 1), round(_y(value.mid, top), 1)) for at, value in enumerate(values) if value),
        columns=tuple(Mark(round(across[at], 1), sweep[at].minor) for at in _named(len(sweep))),
        levels=tuple(Mark(round(_y(level, top), 1), number(level)) for level in (0.0, top / 2, top)),
        pythons=tuple(Mark(round((across[at - 1] + across[at]) / 2, 1), says) for at, says in _pythons(sweep)),
        rows=tuple((costs.minor, python(costs), cell(costs, key, "plain_calls")) for costs in sweep),
    )


def _value(costs: Costs, hook: str) -> Estimate | None:
    """Return the cost in plain calls where there is one to draw."""
    figure = costs.figures.get(("call", hook, "empty", 1))
    if figure is None or figure.absent or costs.below_noise(figure):
        return None
    return figure.values["plain_calls"]


def _runs(values: Sequence[Estimate | None]) -> list[list[int]]:
    """Return the stretches without a gap."""
    found: list[list[int]] = []
    for at, value in enumerate(values):
        if value and at and values[at - 1]:
            found[-1].append(at)
        elif value:
            found.append([at])
    return found


def _x(index: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (index / (count - 1) if count > 1 else 0.5)


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * max(value, 0.0) / top


def _point(x: float, value: float, top: float) -> str:
    return f"{x:.1f},{_y(value, top):.1f}"


def _line(run: list[int], across: list[float], values: Sequence[Estimate | None], top: float) -> str:
    return " ".join(_point(across[at], value.mid, top) for at in run if (value := values[at]))


def _band(run: list[int], across: list[float], values: Sequence[Estimate | None], top: float) -> str:
    over = [_point(across[at], value.high, top) for at in run if (value := values[at])]
    under = [_point(across[at], value.low, top) for at in reversed(run) if (value := values[at])]
    return " ".join(over + under)


def _named(count: int) -> list[int]:
    """Return which versions are named: the first, the last, and some between them."""
    if count <= LABELS:
        return list(range(count))
    return sorted({round(step * (count - 1) / (LABELS - 1)) for step in range(LABELS)})


def _pythons(sweep: Sequence[Costs]) -> list[tuple[int, str]]:
    """Return the versions before which Python changes, and with it the unit, by their places."""
    told = [python(costs) for costs in sweep]
    return [(at, f"Python {told[at]}") for at in range(1, len(told)) if told[at] != told[at - 1]]


def _alt(says: str, sweep: Sequence[Costs], values: Sequence[Estimate | None]) -> str:
    seen = [(costs.minor, value) for costs, value in zip(sweep, values, strict=True) if value]
    if not seen:
        return f"{says}: no version shows a cost above noise"
    (first, start), (last, end) = seen[0], seen[-1]
    pythons = "".join(f"; {python} from {sweep[at].minor} on" for at, python in _pythons(sweep))
    return f"{says}: {number(start.mid)} plain calls on torch {first}, {number(end.mid)} on {last}{pythons}"
