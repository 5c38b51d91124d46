"""The costs in words and rows, for the command line and the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.costs import FLOOR, Costs, Figure, Key
from reports.costs_change import RELEASES, Change, changes, far, not_compared, unhooked
from reports.costs_stats import Estimate

BELOW = "below noise"
ABSENT = "absent"
WORKLOADS = {"empty": "empty module", "small": "small layer", "large": "large layer"}
WORKS = {"nothing": "nothing", "forward": "forward", "both": "forward and backward", "leaf": "the same from a leaf"}
THOUSAND = 1000
RATIO_DIGITS = 4  # 1.008 says more than 1.01


@dataclass(frozen=True)
class Row:
    """One line of a table: what it is of, and its cells."""

    hook: str
    says: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table with its caption and the heads of its columns, the first of them over the hooks."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that mean something: 0.00123, 1.23, 123, 12,300."""
    value = float(f"{value:.{digits}g}")
    if abs(value) >= THOUSAND:
        return f"{value:,.0f}"
    text = f"{value:#.{digits}g}"
    return text[:-1] if text.endswith(".") else text


def interval(value: Estimate, digits: int = 3) -> str:
    """Return "21.9 (21.5 to 22.2)"."""
    return f"{number(value.mid, digits)} ({number(value.low, digits)} to {number(value.high, digits)})"


def sides(change: Change) -> tuple[str, str]:
    """Return what a hook added before, set right by the works without hooks, and what it adds now."""
    old, new = (
        BELOW if below else interval(each) for each, below in zip((change.old, change.new), change.below, strict=True)
    )
    return old, new


def cell(costs: Costs, key: Key, value: str) -> str:
    """Return a figure in a table: its value with the interval, or why there is none."""
    figure = costs.figures.get(key)
    if figure is None:
        return "not measured"
    if figure.absent:
        return ABSENT
    if costs.below_noise(figure):
        return BELOW
    return interval(figure.values[value], RATIO_DIGITS if value == "ratio" else 3)


def calls(costs: Costs) -> Table:
    """Return what one hook adds to one call: in plain calls, as a ratio to the same work without it, and in ns."""
    kinds = {"plain_calls": "plain calls", "ratio": "ratio", "added": "ns here"}
    heads = ("hook", *(f"{says}: {what}" for says in WORKLOADS.values() for what in kinds.values()))
    rows = [
        Row(hook, says + _fired(costs, hook), tuple(
            cell(costs, ("call", hook, workload, 1), value)
            for workload in WORKLOADS
            for value in kinds
        ))
        for hook, says in hooks(costs, "call")
    ]  # fmt: skip
    return Table("What one hook adds to one call", heads, tuple(rows))


def _fired(costs: Costs, hook: str) -> str:
    """Return how often a pass calls a hook, where that is more than once."""
    fired = sorted({figure.fires for figure in _measured(costs, "call") if figure.hook == hook})
    if not fired or fired[-1] <= 1:
        return ""
    return f" ({' or '.join(map(str, fired))} calls)"


def counts(costs: Costs) -> Table:
    """Return how the cost grows with the number of hooks."""
    heads = ("hooks on an empty module, in ns here", "the first", "each next", "slope", "intercept")
    names = ("first", "next", "slope", "intercept")
    rows = [
        Row(hook, says, tuple(cell(costs, (name, hook, "empty", 1), "added") for name in names))
        for hook, says in hooks(costs, "slope")
    ]
    return Table("What further hooks add", heads, tuple(rows))


def others(costs: Costs) -> Table:
    """Return the encoder, the memory and the registering."""
    rows = [
        Row(figure.hook, f"{figure.says} on each module of the encoder ({figure.fires} calls)", _both(costs, figure))
        for figure in _measured(costs, "modules")
    ]
    rows += [
        Row(figure.hook, f"memory of a {figure.says}", _both(costs, figure)) for figure in _measured(costs, "memory")
    ]
    rows += [
        Row(figure.hook, f"registering and removing: {figure.says}", _both(costs, figure, ratio=False))
        for figure in _measured(costs, "register")
    ]
    return Table("Encoder, memory, registering", ("what", "adds here", "ratio"), tuple(rows))


def noises(costs: Costs) -> Table:
    """Return what each work seems to add to itself: what is less cannot be seen in this run."""
    rows = []
    for figure in _measured(costs, "same"):
        ratio = figure.values.get("ratio")
        where = "" if figure.work == "nothing" else f", {WORKLOADS.get(figure.workload, figure.workload)}"
        cells = (f"{interval(figure.values['added'])} ns", interval(ratio, RATIO_DIGITS) if ratio else "")
        rows.append(Row(figure.hook, f"{WORKS.get(figure.work, figure.work)} beside itself{where}", cells))
    return Table("Noise of this run", ("what", "seems to add here", "ratio"), tuple(rows))


def over_versions(sweep: Sequence[Costs]) -> Table:
    """Return what each kind of hook adds to one call of an empty module, in plain Python calls, on each version."""
    known = {hook: says for costs in sweep for hook, says in hooks(costs, "call")}
    rows = [
        Row(hook, says, tuple(cell(costs, ("call", hook, "empty", 1), "plain_calls") for costs in sweep))
        for hook, says in known.items()
    ]
    heads = ("hook", *(costs.minor for costs in sweep))
    return Table("Plain Python calls that one hook adds on an empty module, by torch version", heads, tuple(rows))


def changed(sweep: Sequence[Costs]) -> Table:
    """Return what changed between neighbouring versions, on the empty module."""
    rows = []
    for before, after in pairwise(sweep):
        versions, works = f"{before.minor} to {after.minor}", unhooked(before, after)
        why = not_compared(before, after)
        if why:
            rows.append(Row("", versions, (why, "", "", "")))
            continue
        if far(works, RELEASES):
            rows.append(Row("", versions, ("works without hooks", number(works), "", "")))
        for change in changes(before, after, [key for key in before.figures if key[::2] == ("call", "empty")]):
            ratio = number(change.ratio) if change.ratio else "no ratio"
            rows.append(Row(change.after.hook, versions, (change.after.says, ratio, *sides(change))))
    heads = ("torch", "hook", "times as much", "ns before, beside the works without hooks", "ns after")
    caption = f"What changed between neighbouring versions: intervals that part, by more than {RELEASES:.0%}"
    return Table(caption, heads, tuple(rows))


def _both(costs: Costs, figure: Figure, *, ratio: bool = True) -> tuple[str, str]:
    added = cell(costs, figure.key, "added")
    unit = f" {figure.unit}" if added != BELOW else ""
    return added + unit, cell(costs, figure.key, "ratio") if ratio else ""


def hooks(costs: Costs, name: str) -> list[tuple[str, str]]:
    """Return the hooks of a figure with their words, in the order of the run file."""
    return list({figure.hook: figure.says for figure in _of(costs, name)}.items())


def _of(costs: Costs, name: str) -> Iterator[Figure]:
    return (figure for figure in costs.figures.values() if figure.figure == name)


def _measured(costs: Costs, name: str) -> Iterator[Figure]:
    return (figure for figure in _of(costs, name) if not figure.absent)


def environment(costs: Costs) -> str:
    """Say on what the costs were measured."""
    told = costs.environment
    low, high = told["load"]
    cores, threads = _plural(told["cores"], "core"), _plural(told["threads"], "thread")
    processes = f"{told['processes']} processes"
    if told["left_out"]:  # somebody else used the machine beside these
        processes = f"the quietest {told['processes']} of {told['processes'] + told['left_out']} processes"
    return (
        f"{told['machine']}, {cores}, {threads}, Python {told['python']}, {told['platform']}, "
        f"load {low:g} to {high:g}; {processes}, intervals of 99 %"
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def summary(costs: Costs) -> list[str]:
    """Return the costs in sentences."""
    floor = costs.figures[FLOOR].values["added"]
    found = [f"A plain Python call of the same function takes {interval(floor)} ns here; it is the unit."]
    for hook in ("forward", "full_backward", "tensor"):
        figure = costs.figures.get(("call", hook, "empty", 1))
        if figure is None or figure.absent:
            continue
        if costs.below_noise(figure):
            cost = "less than the noise of this run"
        else:
            cost = f"about {interval(figure.values['plain_calls'])} plain Python calls"
        found.append(f"A {figure.says} costs {cost} where the module is empty.")
    large = [figure for figure in _measured(costs, "call") if figure.workload == "large"]
    if large:
        below = sum(costs.below_noise(figure) for figure in large)
        found.append(f"On a layer where compute dominates, {below} of {len(large)} kinds are below noise.")
    for figure in _measured(costs, "modules"):
        if not costs.below_noise(figure):
            ratio = interval(figure.values["ratio"], RATIO_DIGITS)
            found.append(
                f"A {figure.says} on each module of a transformer encoder of twelve layers, {figure.fires} calls "
                f"in all, makes a pass {ratio} times as long."
            )
    for figure in _measured(costs, "memory"):
        if not costs.below_noise(figure):
            held = interval(figure.values["added"])
            found.append(f"A {figure.says} holds about {held} bytes from each forward to its backward.")
    return found
