"""What became of one clause from release to release: neighbouring releases that say the same are one span."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from reports.atlas import Atlas, Cell, Column
from reports.diff import state, words


@dataclass(frozen=True)
class Span:
    """Neighbouring releases on which a clause stands the same."""

    columns: tuple[Column, ...]
    cell: Cell

    @property
    def releases(self) -> str:
        """The releases in words: "2.0", or "2.0 to 2.15"."""
        first, last = self.columns[0].label, self.columns[-1].label
        return first if first == last else f"{first} to {last}"

    @property
    def words(self) -> str:
        """The cell in words, with the reason where one is known."""
        return words(self.cell) + (f": {self.cell.note}" if self.cell.note else "")

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
        }


def spans(atlas: Atlas, clause: str, mode: str, columns: Iterable[Column] | None = None) -> list[Span]:
    """Return the spans of a clause, oldest first, over these columns or all."""
    chosen = atlas.columns if columns is None else tuple(columns)
    pairs = [(column, atlas.cell(clause, column, mode)) for column in chosen]
    found = []
    for _, group in groupby(pairs, key=lambda pair: (*state(pair[1]), pair[1].declared, pair[1].note)):
        together, cells = zip(*group, strict=True)
        found.append(Span(together, cells[0]))
    return found
