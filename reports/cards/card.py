"""A card for each hook API: of all clauses about it those that somebody needs who writes such a hook, on one screen.

The files next to this one say which clauses are on a card, and in which order, and nothing else: what a line says is
what its clause says on the releases that are asked for. A part without a clause has the reason in its place.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fixtures.families import KINDS
from reports.data.atlas import Atlas, Column
from reports.data.by_mode import CALLS, by_mode
from reports.data.forms import torch_of
from reports.data.history import Span, spans, timeline

#: The parts of a card, in their order, and what stands before their lines; `next_to` is of cards that need it.
PARTS = {
    "called": "when, how often",
    "given": "is given",
    "returns": "its result",
    "order": "order",
    "removal": "removal",
    "copies": "copies",
    "next_to": "next to others",
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


@dataclass(frozen=True)
class Line:
    """One line of a card: a sentence, or the reason why there is none, and the clause that it opens or ""."""

    part: str
    says: str
    clause: str = ""


@dataclass(frozen=True)
class Card:
    """A hook API on one torch: how it is called there, since when in words, its lines, and what was before.

    `left` is how many lines are left out, by the reason; `other` registers the same everywhere, or in one place.
    """

    call: str
    torch: str
    there: bool
    since: str
    other: str
    lines: tuple[Line, ...] = ()
    ways: tuple[Line, ...] = ()
    before: tuple[Line, ...] = ()
    left: Mapping[str, int] = field(default_factory=dict)


@functools.cache
def table() -> dict[str, dict[str, dict[str, str | list[str]]]]:
    """Return group -> API -> how it is called, and the clauses of each part."""
    return {
        title: json.loads((Path(__file__).parent / f"{name}.json").read_text("utf-8")) for name, title in GROUPS.items()
    }


def parts_of(api: str) -> dict[str, str | list[str]]:
    """Return what the card of an API is made of; nothing where it has none."""
    return next((cards[api] for cards in table().values() if api in cards), {})


def shown(atlas: Atlas) -> dict[str, list[str]]:
    """Return what each group is about, and the APIs of its cards of which the atlas has a clause."""
    found = {title: [api for api in cards if _known(atlas, api)] for title, cards in table().items()}
    return {title: apis for title, apis in found.items() if apis}


def card(atlas: Atlas, api: str, columns: Sequence[Column], mode: str) -> Card | None:
    """Return the card of an API on the last of these releases, with what changed on them; None where it has none."""
    if not _known(atlas, api):
        return None
    torch, first = columns[-1], atlas.came.get((api, ""), 0)
    head = (call(atlas, api, torch), torch.label, first <= atlas.columns.index(torch), since(atlas, api), other(api))
    if not head[2]:
        return Card(*head)
    lines: list[Line] = []
    before: list[tuple[int, Line]] = []
    left: Counter[str] = Counter()
    for part, chosen in ((part, parts_of(api).get(part, [])) for part in PARTS):
        lines += [Line(part, chosen)] if isinstance(chosen, str) else []
        for name in () if isinstance(chosen, str) else chosen:
            clause = atlas.clauses.get(name)
            found = spans(atlas, name, mode, columns) if clause else []
            now = found[-1].statement if found else None
            if clause and now and now.told:
                says = now.says if now.answer != "deviates" else now.words
                lines.append(Line(part, f"{says} {clause.limits}".rstrip(), name))
                before += _before(name, found)
            else:
                left["not there" if now and now.answer == "absent" else "not measured"] += 1
    ways = _ways(atlas, api, torch) if mode == atlas.modes[0] else ()
    worst_first = sorted(before, key=lambda one: one[0])
    return Card(*head, tuple(lines), tuple(ways), tuple(line for _, line in worst_first), left)


def call(atlas: Atlas, api: str, torch: Column) -> str:
    """Return how an API is called on a release: without the options that came later."""
    head, given = _called(api)
    here = atlas.columns.index(torch)
    kept = [text for text in given if atlas.came.get((api, text.partition("=")[0]), 0) <= here]
    return f"{head}({', '.join(kept).removesuffix(', *')})"


def since(atlas: Atlas, api: str) -> str:
    """Return in words since when an API is there, and since when those of its options that came later."""
    first, later = atlas.came.get((api, ""), 0), dict[int, list[str]]()
    for option in (text.partition("=")[0] for text in _called(api)[1]):
        if (came := atlas.came.get((api, option), 0)) > first:
            later.setdefault(came, []).append(option)
    words = [f"since {torch_of(atlas.columns[first].label)}" if first else "there on all recorded releases"]
    words += [f"{', '.join(later[came])} since {atlas.columns[came].label}" for came in sorted(later)]
    return "; ".join(words)


def _called(api: str) -> tuple[str, list[str]]:
    """Return the name by which an API is called, and its parameters as they are written."""
    head, _, given = str(parts_of(api)["call"]).removesuffix(")").partition("(")
    return head, given.split(", ")


def other(api: str) -> str:
    """Return the API that registers the same everywhere, or in one place; "" where there is none."""
    pairs = ((kind.method, kind.everywhere) for kind in KINDS.values() if kind.everywhere)
    return next((pair[pair[0] == api] for pair in pairs if api in pair), "")


def _known(atlas: Atlas, api: str) -> bool:
    chosen = (parts_of(api).get(part, []) for part in PARTS)
    return any(name in atlas.clauses for names in chosen if isinstance(names, list) for name in names)


def _before(clause: str, found: Iterable[Span]) -> list[tuple[int, Line]]:
    """Return what a clause says on earlier releases than the last, where that is not the same; and how bad it is."""
    known = [span for span in found if span.statement.answer not in ("absent", "unseen")]
    said = {span.statement.words: (span.statement.weight, span.statement.says) for span in known}
    lines = [(said[words][0], when, said[words][1]) for when, words in timeline(known)]
    return [
        (bad, Line("before", f"{torch_of(when)}: {says}", clause)) for bad, when, says in lines if says != lines[-1][2]
    ]


def _ways(atlas: Atlas, api: str, torch: Column) -> Iterator[Line]:
    """Yield what becomes of the clauses about an API in each other way to run a program, in a line each."""
    for entry in (one for row in by_mode(atlas, (torch,), (api,)).rows for one in row if one.mode in atlas.modes):
        rule = entry.rules[0] if entry.rules else None
        how = f"{entry.mode}: {CALLS[entry.mode]}" if entry.mode in CALLS else entry.mode
        yield Line("ways", f"{how}: {entry.words}" + (f": {rule.says}" if rule else ""), rule.example if rule else "")
