"""What is recorded of a cell, and what a reader sees of it: the words that the suites have are not recorded.

A reading is recorded as its place. The sentence of a deviation or of a rule, what a mode lacks and the head of a script
are those that the suites have now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fixtures.judge.unplayed import NO_PLAN, unplayed
from reports.data.cell import Cell, bare_cell
from reports.data.clause import Clause
from reports.data.table import Table

#: Stands in a text for the version of torch; a mark that was in the text before is followed by nothing.
MARK, TORCH, PLAIN = "‹", "‹torch›", "‹›"
MARKED = re.compile("‹(torch)?›")


def kept(cell: Cell, clause: Clause, mode: str, table: Table) -> Cell:
    """Return what is recorded of a cell of this clause, as a run has it."""
    places = {name: place for place, name in enumerate(clause.reading_names)}
    made = replace(
        cell,
        reading=None if cell.reading is None else places[cell.reading],
        holds=tuple(sorted(places[name] for name in cell.holds)),
        evidence=_with_head(cell.evidence, clause, f"{clause.id}: "),
    )
    derived = cell.note == NO_PLAN or _said(made, table.clauses.get(clause.id, clause), mode, table)
    return replace(made, note="") if derived else made


def worded(cell: Cell, clause: Clause, mode: str, table: Table) -> Cell:
    """Return a recorded cell with the names of its readings, and with all that the suites say of it."""
    names = dict(enumerate(clause.reading_names))
    reading = names.get(cell.reading)
    if cell.bare and cell.verdict != "refused":
        return bare_cell(cell.verdict, reading, cell.digest)
    note = cell.note or _said(cell, clause, mode, table) or (NO_PLAN if cell.verdict == "refused" else "")
    holds = tuple(sorted(names[place] for place in cell.holds if place in names))
    evidence = _with_head(cell.evidence, clause, clause.stated)
    return replace(cell, reading=reading, holds=holds, note=note, evidence=evidence)


def _said(cell: Cell, clause: Clause, mode: str, table: Table) -> str:
    """Return the note that follows from what is recorded of a cell, "" where none does."""
    if cell.verdict == "refused":
        return unplayed(cell.lacks, table.exclusions) if cell.lacks else ""
    if cell.verdict != "deviates":
        return ""
    if cell.declared and cell.deviation:
        own = (one.says for one in clause.deviations if one.name == cell.deviation)
        return next(own, table.rules.get((mode, cell.deviation), ""))
    held = clause.reading_names[cell.holds[0] : cell.holds[0] + 1] if cell.holds else []
    return f"behaves as the reading {held[0]!r}" if held else ""


def _with_head(evidence: Mapping[str, Any] | None, clause: Clause, stated: str) -> Mapping[str, Any] | None:
    """Return evidence whose script begins with this statement of the clause, in place of another one."""
    if evidence is None or not evidence["reproducer"].startswith(f'"""{clause.id}: '):
        return evidence
    return {**evidence, "reproducer": f'"""{stated}\n\n' + evidence["reproducer"].partition("\n\n")[2]}


def named(value: Any, torch: str) -> Any:
    """Return a value with the version of torch in place of its marks."""
    if isinstance(value, str):
        return MARKED.sub(lambda found: torch if found.group(1) else MARK, value)
    if isinstance(value, dict):
        return {key: named(each, torch) for key, each in value.items()}
    return [named(each, torch) for each in value] if isinstance(value, list) else value


def unnamed(value: Any, torch: str) -> Any:
    """Return a value with marks in place of the version of torch, so that it may be the same for several."""
    if isinstance(value, str):
        return value.replace(MARK, PLAIN).replace(torch, TORCH)
    if isinstance(value, dict):
        return {key: unnamed(each, torch) for key, each in value.items()}
    return [unnamed(each, torch) for each in value] if isinstance(value, list) else value
