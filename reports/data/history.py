"""What became of one clause from release to release: neighbouring releases that say the same are one span."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from reports.data.atlas import Atlas, Cell, Column
from reports.data.statements import Statement, statement
from reports.verbs.diff import state


@dataclass(frozen=True)
class Span:
    """Neighbouring releases on which a clause is the same, and what it says there."""

    columns: tuple[Column, ...]
    cell: Cell
    statement: Statement

    @property
    def releases(self) -> str:
        """The releases in words: "2.0", or "2.0 to 2.15"."""
        first, last = self.columns[0].label, self.columns[-1].label
        return first if first == last else f"{first} to {last}"

    def plain(self) -> dict[str, Any]:
        """The span as plain data."""
        return {
            "from": self.columns[0].label,
            "to": self.columns[-1].label,
            "verdict": self.cell.verdict,
            "reading": self.cell.reading,
            "declared": self.cell.declared,
            "holds": list(self.cell.holds),
            "note": self.cell.note,
            **self.statement.plain(),
        }


def spans(atlas: Atlas, clause: str, mode: str, columns: Iterable[Column] | None = None) -> list[Span]:
    """Return the spans of a clause, oldest first, over these columns or all."""
    chosen = atlas.columns if columns is None else columns
    pairs = [(column, atlas.cell(clause, column, mode)) for column in chosen]
    found = []
    for _, group in groupby(pairs, key=lambda pair: (state(pair[1]), pair[1].declared, pair[1].note)):
        together, cells = zip(*group, strict=True)
        found.append(Span(together, cells[0], statement(atlas.clauses[clause], cells[0])))
    return found


def timeline(found: Iterable[Span]) -> list[tuple[str, str]]:
    """Return when and what for a reader, neighbours that say the same as one: [("1.4 to 1.13", …), ("since 2.0", …)].

    "Since" ends with the newest of the spans, which must be a release: nobody knows what comes after a run.
    """
    joined: list[Span] = []
    for _, group in groupby(found, key=lambda span: span.statement.words):
        together = list(group)
        columns = tuple(column for span in together for column in span.columns)
        joined.append(Span(columns, together[0].cell, together[0].statement))
    lines = [(span.releases, span.statement.words) for span in joined]
    if len(joined) > 1 and not joined[-1].columns[-1].this_run:
        lines[-1] = (f"since {joined[-1].columns[0].label}", lines[-1][1])
    return lines
