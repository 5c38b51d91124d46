"""A mode of two at once, "outer+inner": what is measured in each, where a clause says that they are their sum."""

from __future__ import annotations

from dataclasses import replace

from fixtures.run.naming import READERS
from reports.data.atlas import UNSEEN, Atlas, Column
from reports.data.cell import Cell
from reports.data.strict import BadInput

SIGN = "+"
#: The clauses that pairs of modes are the composition of their rules begin so.
CLAUSES = "modes.pairs."
#: Which of two cells a pair has: not known in one mode is not known in both; then the worse one.
WORST = ("unseen", "refused", "absent", "hung", "crashed", "deviates", "conforms")


def with_pair(atlas: Atlas, mode: str) -> Atlas:
    """Return the atlas with a mode of two, on the releases where their clause holds.

    Raises BadInput for two modes that no clause is about.
    """
    outer, _, inner = mode.partition(SIGN)
    columns = where_it_holds(atlas, mode)
    if not columns:
        pairs = [f"{one}{SIGN}{other}" for one in atlas.modes for other in atlas.modes]
        known = ", ".join(pair for pair in pairs if where_it_holds(atlas, pair)) or "none"
        raise BadInput(READERS, "", f"{outer} around {inner} was not measured", f"measured pairs are {known}")
    found = {
        (clause, column.key, mode): worse(*(atlas.cell(clause, column, one) for one in (outer, inner)))
        for column in columns
        for clause in atlas.clauses
    }
    return replace(atlas, modes=(*atlas.modes, mode), cells={**atlas.cells, **found})


def clause_of(mode: str) -> str:
    """Return the id of the clause that a pair is the composition of its modes."""
    return CLAUSES + mode.replace(SIGN, "_")


def where_it_holds(atlas: Atlas, mode: str) -> list[Column]:
    """Return the torches on which a pair is the composition of its modes."""
    cells = (
        (column, atlas.cells.get((clause_of(mode), column.key, atlas.modes[0]), UNSEEN)) for column in atlas.columns
    )
    return [column for column, cell in cells if cell.verdict == "conforms"]


def worse(one: Cell, other: Cell) -> Cell:
    """Return what a sentence is in two modes at once: what it is where it is worse; what is said besides is of both."""
    first, second = sorted((one, other), key=lambda cell: WORST.index(cell.verdict))
    if first.verdict != second.verdict:
        return first
    return replace(first, besides=tuple(dict.fromkeys((*first.besides, *second.besides))))


def said(mode: str) -> list[str]:
    """Return the line that says of an answer that it is by composition, where it is about a pair."""
    if SIGN not in mode:
        return []
    return [f"by composition, each mode was measured alone: {clause_of(mode)} says that together they are their sum"]
