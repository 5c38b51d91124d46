"""A card for each hook API: of all clauses about it those that somebody needs who writes such a hook, on one screen.

The files next to this one say which clauses are on a card, and in which order, and nothing else: what a line says is
what its clause says on the releases that are asked for. A part without a clause has the reason in its place.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fixtures.families import KINDS
from reports.data.atlas import Atlas, Column
from reports.data.by_mode import CALLS, by_mode
from reports.data.clause import Clause
from reports.data.history import Span, spans, timeline
from reports.data.statements import Statement

#: The parts of a card, in their order, and what stands before their lines; `beside` is of cards that need it.
PARTS = {
    "called": "when, how often",
    "given": "is given",
    "returns": "its result",
    "order": "order",
    "removal": "removal",
    "copies": "copies",
    "beside": "next to others",
    "traps": "traps",
}
#: The files next to this one, in the order of the page, and what their cards are about.
GROUPS = {
    "forward": "A module's forward",
    "backward": "A module's backward",
    "tensor": "Tensors, nodes of the graph",
    "saved": "Saved tensors",
    "optimizer": "Steps of an optimizer",
}
#: The most lines of a card: one screen.
MOST = 60
#: The API of one kind of hook in one place, and the one for all places.
PAIRS = tuple((kind.method, kind.everywhere) for kind in KINDS.values() if kind.everywhere)


@dataclass(frozen=True)
class Line:
    """One line of a card: a sentence, or the reason why there is none, and the clause that it opens or ""."""

    part: str
    says: str
    clause: str = ""


@dataclass(frozen=True)
class Card:
    """What somebody needs to know who uses one hook API, on the newest of some releases."""

    #: How it is called there.
    call: str
    torch: str
    #: Whether that torch has it.
    there: bool
    #: Since when it is there; "" where that is longer than anything recorded.
    since: str
    #: The API that registers the same on all modules or optimizers, or on one of them.
    other: str
    lines: tuple[Line, ...]
    changes: tuple[Line, ...]
    ways: tuple[Line, ...]
    #: How many lines of the card are left out, by the reason.
    left: Mapping[str, int]


@functools.cache
def groups() -> dict[str, dict[str, dict[str, str | list[str]]]]:
    """Return group -> API -> how it is called, and the clauses of each part."""
    return {name: json.loads((Path(__file__).parent / f"{name}.json").read_text("utf-8")) for name in GROUPS}


def table() -> dict[str, dict[str, str | list[str]]]:
    """Return the same for the APIs of all groups."""
    return {api: parts for cards in groups().values() for api, parts in cards.items()}


def card(atlas: Atlas, api: str, columns: Sequence[Column], mode: str) -> Card | None:
    """Return the card of an API on the last of these releases, with what changed on them; None where it has none."""
    parts = table().get(api, {})
    if not any(clause in atlas.clauses for clause in clauses_of(parts)):
        return None
    lines: list[Line] = []
    changes: list[tuple[int, Line]] = []
    left: Counter[str] = Counter()
    for part in PARTS:
        chosen = parts.get(part, [])
        if isinstance(chosen, str):
            lines.append(Line(part, chosen))
            continue
        for clause in chosen:
            found = spans(atlas, clause, mode, columns) if clause in atlas.clauses else []
            says = said(atlas.clauses[clause], found[-1].statement) if found else ""
            if says:
                lines.append(Line(part, says, clause))
                changes += _changes(clause, found)
            else:
                absent = bool(found) and found[-1].statement.answer == "absent"
                left["not there" if absent else "not measured"] += 1
    changes.sort(key=lambda change: change[0])
    torch, first = columns[-1], atlas.came.get((api, ""), 0)
    there = first <= atlas.columns.index(torch)
    ways = _ways(atlas, api, torch) if there and mode == atlas.modes[0] else ()
    return Card(
        call(atlas, api, torch),
        torch.label,
        there,
        atlas.columns[first].label if first else "",
        other(api),
        tuple(lines) if there else (),
        tuple(line for _, line in changes) if there else (),
        tuple(ways),
        left if there else {},
    )


def shown(atlas: Atlas) -> dict[str, list[str]]:
    """Return what each group is about, and the APIs of its cards of which the atlas has a clause."""
    found = {
        GROUPS[name]: [api for api, parts in cards.items() if any(one in atlas.clauses for one in clauses_of(parts))]
        for name, cards in groups().items()
    }
    return {title: apis for title, apis in found.items() if apis}


def other(api: str) -> str:
    """Return the API that registers the same everywhere, or in one place; "" where there is none."""
    return next((pair[pair[0] == api] for pair in PAIRS if api in pair), "")


def clauses_of(parts: Mapping[str, str | list[str]]) -> list[str]:
    """Return the clauses that a card names."""
    return [clause for part in PARTS if isinstance(chosen := parts.get(part), list) for clause in chosen]


def said(clause: Clause, now: Statement) -> str:
    """Return what is true of a clause, with its limits; nothing where that is not known or there is no such thing."""
    if not now.told:
        return ""
    return f"{now.says if now.good or now.answer in ('otherwise', 'false') else now.words} {clause.limits}".rstrip()


def call(atlas: Atlas, api: str, torch: Column) -> str:
    """Return how an API is called on a release: without the options that came later."""
    head, _, given = str(table()[api]["call"]).removesuffix(")").partition("(")
    here = atlas.columns.index(torch)
    kept = [text for text in given.split(", ") if atlas.came.get((api, text.partition("=")[0]), 0) <= here]
    return f"{head}({', '.join(kept).removesuffix(', *')})"


def _changes(clause: str, found: Iterable[Span]) -> list[tuple[int, Line]]:
    """Return what a clause says on earlier releases than the last, where that is not the same; and how bad it is."""
    known = [span for span in found if span.statement.answer not in ("absent", "unseen")]
    said = {span.statement.words: (span.statement.weight, span.statement.says) for span in known}
    lines = [(when, *said[words]) for when, words in timeline(known)]
    return [
        (weight, Line("before", f"torch {when}: {says}", clause))
        for when, weight, says in lines
        if says != lines[-1][2]
    ]


def _ways(atlas: Atlas, api: str, torch: Column) -> Iterator[Line]:
    """Yield what becomes of the clauses about an API in each other way to run a program, in a line each."""
    for entry in (one for row in by_mode(atlas, (torch,), (api,)).rows for one in row if one.mode in atlas.modes):
        rule = entry.rules[0] if entry.rules else None
        how = f"{entry.mode}: {CALLS[entry.mode]}" if entry.mode in CALLS else entry.mode
        says = f"{how}: {entry.words}" + (f": {rule.says}" if rule else "")
        yield Line("ways", says, rule.example if rule else "")
