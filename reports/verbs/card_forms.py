"""The card of a hook API for a terminal and as Markdown: what `rely --api` prints of it, on one screen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from fixtures.run.naming import REPORTS
from reports.cards.card import MOST, PARTS, Card, Line
from reports.data import forms
from reports.data.scope import SCOPE

HEADS = {**PARTS, "ways": "other ways to run", "before": "before"}
WIDTH = max(map(len, HEADS.values())) + 2


@dataclass(frozen=True)
class Shown:
    """A card, and in a line what `rely` says of all clauses about the API."""

    card: Card
    summary: str

    @property
    def head(self) -> list[str]:
        """What stands above the parts."""
        one = self.card
        since = f"since torch {one.since}" if one.since else "there on all recorded releases"
        there = f"on torch {one.torch}" if one.there else f"torch {one.torch} does not have it"
        other = [f"see also {REPORTS} rely --api {one.other}"] if one.other else []
        return [one.call, "; ".join([there, since, *other])]

    @property
    def foot(self) -> list[str]:
        """What stands below them: what is not on the card."""
        left = [f"{why} on torch {self.card.torch}: {count}" for why, count in self.card.left.items()]
        more = len(self.card.changes) - len(self.changes)
        left += [f"{more} more before"] if more else []
        lines = [f"lines left out: {', '.join(left)}"] if left else []
        return [*lines, f"{self.summary}; --all lists them", SCOPE]

    @property
    def changes(self) -> tuple[Line, ...]:
        """What was otherwise before, as much as there is room for, the worst first."""
        card = self.card
        taken = len(self.head) + len(card.lines) + len(card.ways) + 3
        return card.changes[: max(0, MOST - taken)]

    @property
    def lines(self) -> list[Line]:
        """The lines of all parts."""
        return [*self.card.lines, *self.card.ways, *self.changes]


def as_text(shown: Shown) -> str:
    """Return a card for a terminal."""
    lines = list(shown.head)
    for part, group in groupby(shown.lines, key=lambda line: line.part):
        heads = [HEADS[part]]
        for line in group:
            head = heads.pop() if heads else ""
            lines.append(f"{head:<{WIDTH}}{line.says}{f'  [{line.clause}]' * bool(line.clause)}")
    return "\n".join([*lines, *shown.foot]) + "\n"


def as_markdown(shown: Shown) -> str:
    """Return a card as a table for an issue or a page of documentation."""
    call, about = shown.head
    lines = [f"`{call}`", "", forms.escaped(about), "", "| | | clause |", "|---|---|---|"]
    for line in shown.lines:
        clause = f"`{line.clause}`" if line.clause else ""
        lines.append(f"| {HEADS[line.part]} | {forms.escaped(line.says)} | {clause} |")
    return "\n".join([*lines, "", *map(forms.escaped, shown.foot)]) + "\n"


CARDS = {"text": as_text, "markdown": as_markdown}
