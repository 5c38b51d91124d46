"""A clause with a new text that measures the same: run on some releases, it keeps what others have of the older one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reports.data.cell import Cell, Cells
from reports.data.clause import Clauses
from reports.data.verdicts import Recorded


def restamped(
    before: Mapping[str, Recorded], fresh: Mapping[str, Recorded], clauses: Clauses
) -> tuple[tuple[str, ...], list[Recorded], tuple[str, ...]]:
    """Return the clauses whose older measurements stay good, and the releases that have them, with the new digests.

    That is proven where the new text was run: it must give what is recorded there, and be run on at least one release
    of each result that the older text has. Last come the faults of those of which either is not so: they stay unseen.
    """
    unproven: list[str] = []
    stamped: dict[str, None] = {}
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for clause, mode in sorted({(clause, mode) for new in fresh.values() for clause, mode in _keys(new.cells)}):
        others = {
            minor: old.cells[clause][mode]
            for minor, old in before.items()
            if minor not in fresh and mode in old.cells.get(clause, {})
        }
        outdated = {minor: cell for minor, cell in others.items() if cell.digest != clauses[clause].digest}
        if not outdated:
            continue
        run = tuple(
            minor for minor in (*before, *fresh) if minor in fresh and mode in fresh[minor].cells.get(clause, {})
        )
        run = tuple(dict.fromkeys(run))  # oldest first
        fault = _fault(clause, mode, [(minor, before, fresh[minor].cells[clause][mode]) for minor in run], outdated)
        if fault:
            unproven.append(fault)
            continue
        stamped[clause] = None
        for minor, cell in outdated.items():
            new = replace(cell, digest=clauses[clause].digest, restamped=run)
            cells.setdefault(minor, {}).setdefault(clause, {})[mode] = new
    return tuple(stamped), [_with(before[minor], found) for minor, found in cells.items()], tuple(unproven)


def _keys(cells: Cells) -> Iterable[tuple[str, str]]:
    return ((clause, mode) for clause, modes in cells.items() for mode in modes)


def _fault(
    clause: str, mode: str, run: Iterable[tuple[str, Mapping[str, Recorded], Cell]], outdated: Mapping[str, Cell]
) -> str:
    """Return why these runs do not prove that the older measurements of a clause stay good, "" where they do."""
    proven = set()
    for minor, before, new in run:
        old = before[minor].cells.get(clause, {}).get(mode) if minor in before else None
        if old is None or old.state != new.state:
            return f"{clause} [{mode}] is not on torch {minor} what is recorded there"
        proven.add(old.state)
    for minor, cell in outdated.items():
        if cell.state not in proven:
            return f"{clause} [{mode}] was run on no release that is recorded as torch {minor} is"
    return ""


def _with(old: Recorded, cells: Cells) -> Recorded:
    return replace(old, cells={**old.cells, **{name: {**old.cells[name], **modes} for name, modes in cells.items()}})
