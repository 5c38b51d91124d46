"""The costs, their changes and the gate in words and tables; and these as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.costs.change import CostChange, both, changes
from reports.costs.counts import HOOK, NOT_COUNTED, PLAIN, WORKLOADS, Costs, Figure, Times
from reports.data.forms import as_json, escaped
from reports.data.strict import ANSWERS_FORMAT

COLUMNS = {"hook": "one hook adds", "second": "the 2nd", "sixteenth": "the 16th", "register": "register and remove"}
THOUSAND = 1000


@dataclass(frozen=True)
class CostTable:
    """A table with its caption and the heads of its columns."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CostAnswer:
    """What the verb answers: sentences and tables for people, and the same for a program."""

    parts: tuple[str | CostTable, ...]
    plain: dict[str, Any]


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many digits that mean something: 0.00123, 1.23, 123, 12,300."""
    value = float(f"{value:.{digits}g}")
    if abs(value) >= THOUSAND:
        return f"{value:,.0f}"
    text = f"{value:#.{digits}g}"
    return text[:-1] if text.endswith(".") else text


def counts_table(costs: Costs) -> CostTable:
    """Return what hooks add to a pass of an empty module, a row for each kind."""
    kinds = {figure.kind: figure.says for figure in costs.figures.values() if figure.figure in COLUMNS}
    columns = {name: says for name, says in COLUMNS.items() if any(name == figure for figure, _ in costs.figures)}
    rows = []
    for kind, says in kinds.items():
        one = costs.figures.get((HOOK, kind))
        without = f"{one.bare:,.0f}" if one and not one.why else ""
        rows.append((says, without, *(_cell(costs.figures.get((name, kind))) for name in columns)))
    return CostTable("Instructions per pass of an empty module", ("hook", "without it", *columns.values()), tuple(rows))


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return NOT_COUNTED if figure.why else f"{figure.added:,.0f}"


def remarks(costs: Costs) -> list[str]:
    """Return why a kind was not counted, in sentences."""
    reasons: dict[str, list[str]] = {}
    for figure in costs.figures.values():
        if figure.why and (figure.figure == HOOK or (HOOK, figure.kind) not in costs.figures):
            reasons.setdefault(figure.why, []).append(figure.words)
    return [f"{', '.join(kinds)}: {NOT_COUNTED}, {why}." for why, kinds in reasons.items()]


def times_table(times: Times) -> CostTable:
    """Return what one hook adds in time, a row for each kind."""
    document = times.document
    where = f"{document['machine']}, torch {document['torch']}, Python {document['python']}"
    plain = f"a plain Python call takes {number(document[PLAIN])}"
    caption = (
        f"Nanoseconds that one hook adds on {where}; {plain}; in brackets the interquartile range without it, with it"
    )
    loads = [load for load in WORKLOADS if any(load in row for row in document["rows"].values())]
    heads = [head for load in loads for head in (f"{WORKLOADS[load]}: ns (ranges)", "plain calls")]
    rows = [
        (row["says"], *(cell for load in loads for cell in _timed(document, row.get(load))))
        for row in document["rows"].values()
    ]
    return CostTable(caption, ("hook", *heads), tuple(rows))


def _timed(document: Mapping[str, Any], quartiles: Sequence[float] | None) -> tuple[str, str]:
    """Return what a hook adds with the interquartile range of each side, and that in plain calls."""
    if quartiles is None:
        return "", ""
    low, bare, high, hook_low, hook, hook_high = quartiles
    ranges = high - low, hook_high - hook_low
    if hook - bare < max(ranges):
        return "below noise", ""
    return f"{number(hook - bare)} ({', '.join(map(number, ranges))})", number((hook - bare) / document[PLAIN])


def show(costs: Costs | None, times: Times | None = None) -> CostAnswer:
    """Return what is known of one torch."""
    parts: list[str | CostTable] = []
    plain: dict[str, Any] = {"costs": None, "times": times.document if times else None}
    if costs:
        head = f"Python {costs.python}, {costs.build['libc']}, {costs.build['valgrind']}, seeds: {costs.seeds}"
        whys = {figure.why for figure in costs.figures.values()}
        counted = [counts_table(costs), *remarks(costs)] if "" in whys else [f"nothing was counted: {'; '.join(whys)}"]
        parts += [f"torch {costs.torch}: {head}", *counted]
        figures = [vars(figure) for figure in costs.figures.values()]
        plain["costs"] = {"torch": costs.torch, **costs.build, "seeds": costs.seeds, "figures": figures}
    if times:
        parts.append(times_table(times))
    return CostAnswer(tuple(parts), plain)


def compare(before: Costs, after: Costs) -> CostAnswer:
    """Return what changed between two torches."""
    found, compared = changes(before, after), sum(1 for _ in both(before, after))
    head = f"torch {before.torch} -> {after.torch}: {len(found)} of {compared} figures changed"
    rows = tuple((each.after.words, each.percent, *each.sides) for each in found)
    table = CostTable("Instructions per pass", ("what", "change", "before", "after"), rows)
    plain = {"before": before.torch, "after": after.torch, "compared": compared}
    return CostAnswer((head, table) if rows else (head,), {**plain, "changes": [_plain(each) for each in found]})


def gate(gated: Iterable[tuple[CostChange, float, bool]]) -> CostAnswer:
    """Return what the gate says of each kind: how it changed, its limit, and whether it costs more."""
    parts, plain = [], []
    for change, limit, over in gated:
        ratio, (old, new) = change.ratio, change.sides
        said = f"{'over' if over else 'within'} {limit:g}"
        if not over and ratio is not None and ratio > limit:
            said = f"over {limit:g}, but by no more than two counts of one torch differ"
        much = "" if ratio is None else f"{ratio:.3f} times the baseline, "
        parts.append(f"{change.after.kind}: {much}{said} ({old} -> {new})")
        plain.append({**_plain(change), "limit": limit, "over": over})
    return CostAnswer(tuple(parts), {"kinds": plain})


def _plain(change: CostChange) -> dict[str, Any]:
    new, ratio = change.after, change.ratio
    return {
        "figure": new.figure, "kind": new.kind, "says": new.words,
        "before": change.before.added, "after": new.added, "ratio": ratio and float(f"{ratio:.5g}"),
    }  # fmt: skip


def _text(answer: CostAnswer) -> str:
    lines = []
    for part in answer.parts:
        if isinstance(part, CostTable):
            cells = [part.heads, *part.rows]
            widths = [max(len(line[column]) for line in cells) for column in range(len(part.heads))]
            lines += ["", part.caption, *("  ".join(map(str.ljust, line, widths)).rstrip() for line in cells), ""]
        else:
            lines.append(part)
    return "\n".join(lines).strip("\n") + "\n"


def _markdown(answer: CostAnswer) -> str:
    lines = []
    for part in answer.parts:
        if isinstance(part, CostTable):
            rows = [f"| {' | '.join(map(escaped, row))} |" for row in (part.heads, *part.rows)]
            lines += ["", f"**{escaped(part.caption)}**", "", rows[0], "|---" * len(part.heads) + "|", *rows[1:], ""]
        else:
            lines.append(f"* {escaped(part)}")
    return "\n".join(lines).strip("\n") + "\n"


FORMS = {
    "text": _text,
    "json": lambda answer: as_json({"format": ANSWERS_FORMAT, **answer.plain}),
    "markdown": _markdown,
}
