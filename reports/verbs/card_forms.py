"""The card of a hook API for a terminal: what `rely --api` prints, on one screen."""

from __future__ import annotations

from fixtures.run.naming import REPORTS
from reports.cards.card import MOST, PARTS, Card
from reports.data.forms import torch_of
from reports.data.scope import SCOPE

HEADS = {**PARTS, "ways": "other ways to run", "before": "before"}
WIDTH = max(map(len, HEADS.values())) + 2


def as_text(card: Card, summary: str) -> str:
    """Return a card, with what `rely` says in a line of all clauses about the API."""
    there = f"on {torch_of(card.torch)}" if card.there else f"{torch_of(card.torch)} does not have it"
    see = [f"see also {REPORTS} rely --api {card.other}"] if card.other else []
    lines = [card.call, "; ".join([there, card.since, *see])]
    room = MOST - len(lines) - len(card.lines) - len(card.ways) - 3  # the three below
    before, last = card.before[: max(0, room)], ""
    for line in (*card.lines, *card.ways, *before):
        head, last = HEADS[line.part] if line.part != last else "", line.part
        lines.append(f"{head:<{WIDTH}}{line.says}" + f"  [{line.clause}]" * bool(line.clause))
    left = [f"{count} {why} on {torch_of(card.torch)}" for why, count in card.left.items()]
    left += [f"{len(card.before) - len(before)} of before"] if before != card.before else []
    lines += [f"lines left out: {', '.join(left)}"] if left else []
    return "\n".join([*lines, f"{summary}; --all lists them", SCOPE]) + "\n"
