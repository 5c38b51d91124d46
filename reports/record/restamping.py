"""A clause with a new text that measures the same: run on some releases, it keeps what others have of the older one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from reports.data.cell import Cell, Cells
from reports.data.clause import Clause, Clauses
from reports.data.verdicts import Recorded


def restamped(
    before: Mapping[str, Recorded], fresh: Mapping[str, Recorded], clauses: Clauses
) -> tuple[tuple[str, ...], Mapping[str, Cells], tuple[str, ...]]:
    """Return the clauses whose older measurements stay good, and these cells of each release, with the new digests.

    That is proven where the new text was run: it must give what is recorded there, and be run on at least one release
    of each result that the older text has. A reading may have moved to another place, the same on all releases, where
    the new text states it for them. Last come the faults of clauses of which that is not so: they stay unseen.
    """
    unproven: list[str] = []
    stamped: dict[str, None] = {}
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for clause, mode in sorted({(clause, mode) for new in fresh.values() for clause, mode in _keys(new.cells)}):
        others = {
            minor: old.cells[clause][mode]
            for minor, old in before.items()
            if mode in old.cells.get(clause, {}) and not _runs(fresh.get(minor), clause, mode)
        }
        outdated = {minor: cell for minor, cell in others.items() if cell.digest != clauses[clause].digest}
        if not outdated:
            continue
        run = tuple(minor for minor in dict.fromkeys((*before, *fresh)) if _runs(fresh.get(minor), clause, mode))
        pairs = [(minor, before[minor].cells.get(clause, {}).get(mode) if minor in before else None) for minor in run]
        places, fault = _moved(
            clauses[clause],
            [(minor, old, fresh[minor].cells[clause][mode]) for minor, old in pairs],
            [(before[minor], cell) for minor, cell in outdated.items()],
        )
        if fault:
            unproven.append(f"{clause} [{mode}] {fault}")
            continue
        stamped[clause] = None
        for minor, cell in outdated.items():
            new = replace(cell, reading=places[cell.reading], digest=clauses[clause].digest, restamped=True)
            cells.setdefault(minor, {}).setdefault(clause, {})[mode] = new
    return tuple(stamped), cells, tuple(unproven)


def _runs(new: Recorded | None, clause: str, mode: str) -> bool:
    return new is not None and mode in new.cells.get(clause, {})


def _keys(cells: Cells) -> Iterable[tuple[str, str]]:
    return ((clause, mode) for clause, modes in cells.items() for mode in modes)


def _moved(
    clause: Clause, run: Iterable[tuple[str, Cell | None, Cell]], outdated: Iterable[tuple[Recorded, Cell]]
) -> tuple[dict[Any, Any], str]:
    """Return the new place of each reading of the older text, and why its measurements do not stay good, or ""."""
    places: dict[Any, Any] = {None: None}
    proven = set()
    for minor, old, new in run:
        same = old is not None and replace(old, reading=new.reading).state == new.state
        if old is None or not same or places.setdefault(old.reading, new.reading) != new.reading:
            return places, f"is not on torch {minor} what is recorded there"
        proven.add(old.state)
    for release, cell in outdated:
        if cell.state not in proven:
            return places, f"was run on no release that is recorded as torch {release.minor} is"
        place = places[cell.reading]
        if place is not None and clause.in_force(release.version) != clause.reading_names[place]:
            return places, f"states another reading for torch {release.minor} than was recorded there"
    return places, ""


def with_cells(old: Recorded, cells: Cells) -> Recorded:
    """Return a release with these cells in place of its own."""
    return replace(old, cells={**old.cells, **{name: {**old.cells[name], **modes} for name, modes in cells.items()}})
