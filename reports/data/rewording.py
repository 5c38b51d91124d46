"""A rule of a mode has one sentence in the record, that of the newest run: older cells get it, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reports.data.cell import Cell
from reports.data.verdicts import Recorded


def reworded(before: Mapping[str, Recorded], fresh: Iterable[Recorded]) -> dict[str, Recorded]:
    """Return what is recorded, with the rules of modes in the words that these runs have for them."""
    words = {(mode, cell.deviation): cell.note for new in fresh for _, mode, cell in _by_rule(new)}
    found = dict(before)
    for name, old in before.items():
        cells = {clause: dict(modes) for clause, modes in old.cells.items()}
        for clause, mode, cell in _by_rule(old):
            cells[clause][mode] = replace(cell, note=words.get((mode, cell.deviation), cell.note))
        found[name] = replace(old, cells=cells)
    return found


def _by_rule(old: Recorded) -> Iterator[tuple[str, str, Cell]]:
    """Yield the cells in which a rule of the mode is in force, and their clauses and modes."""
    for clause, modes in old.cells.items():
        for mode, cell in modes.items():
            if cell.declared and (cell.deviation or "").startswith("rule "):
                yield clause, mode, cell
