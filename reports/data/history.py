"""What became of one clause from release to release: neighbouring releases that say the same are one span."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reports.data.atlas import Atlas, Column
from reports.data.cell import Cell
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import Statement, statement

#: how a clause, and how several, may be in a range; in the order shown: a program has most to fear from the first
STATUSES = {
    "changes": ("changes", "change"),
    "otherwise": ("differs in the same way on every release", "differ in the same way on every release"),
    "nowhere": ("holds on no release", "hold on no release"),
    "unseen": ("not measured on every release", "not measured on every release"),
    "holds": ("holds on every release", "hold on every release"),
}


@dataclass(frozen=True)
class Span:
    """Neighbouring releases on which a clause is the same, and what it says there."""

    columns: tuple[Column, ...]
    cell: Cell
    statement: Statement

    @property
    def releases(self) -> str:
        """The releases in words: "2.0", or "2.0 to 2.15"."""
        return from_to(self.columns[0].label, self.columns[-1].label)

    def plain(self) -> dict[str, Any]:
        """The span as plain data."""
        return {
            "from": self.columns[0].label,
            "to": self.columns[-1].label,
            **self.cell.plain,
            "note": self.cell.note,
            **self.statement.plain(),
        }


def spans(atlas: Atlas, clause: str, mode: str, columns: Iterable[Column] | None = None) -> list[Span]:
    """Return the spans of a clause, oldest first, over these columns or all."""
    columns = atlas.columns if columns is None else tuple(columns)
    chosen = [column for column in columns if atlas.asked(clause, column, mode)] or columns

    def same(column: Column) -> tuple[Any, ...]:
        cell = atlas.cell(clause, column, mode)
        return cell.state, cell.declared, cell.note, cell.besides

    found = []
    for _, together in neighbours(chosen, same):
        cell = atlas.cell(clause, together[0], mode)
        found.append(Span(together, cell, statement(atlas.clauses[clause], cell)))
    return found


def timeline(found: Iterable[Span]) -> list[tuple[str, str]]:
    """Return when and what for a reader, neighbours that say the same as one: [("1.4 to 1.13", …), ("since 2.0", …)].

    "Since" ends with the newest of the spans, which must be a release: nobody knows what comes after a run.
    """
    joined = [
        (words, [column for span in together for column in span.columns])
        for words, together in neighbours(found, lambda span: span.statement.words)
    ]
    lines = [(from_to(columns[0].label, columns[-1].label), words) for words, columns in joined]
    if len(joined) > 1 and not joined[-1][1][-1].this_run:
        lines[-1] = (f"since {joined[-1][1][0].label}", lines[-1][1])
    return lines


def status(found: Iterable[Span]) -> str:
    """Return how a clause with these spans is in the range: it holds where its own sentence is true on each release."""
    statements = [span.statement for span in found]
    if any(each.answer == "unseen" for each in statements):
        return "unseen"
    good = [each.good for each in statements]
    if all(good):
        return "holds"
    if any(good):
        return "changes"
    same = len({(each.answer, each.says) for each in statements}) == 1
    return "otherwise" if same and all(each.constant for each in statements) else "nowhere"
