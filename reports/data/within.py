"""What a mode does otherwise within what a clause promises, and what lies outside: for readers, who ask no model.

The verdict of a cell in a mode says by which rule any plan is otherwise. `python -m suites.within` asks the models
which of these plans are within a usual program and what the sentence names, and keeps it next to the clauses.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from packaging.version import Version

from reports.data.cell import Beside, Cell
from reports.data.clause import Clause
from reports.data.forms import counted
from reports.data.table import RULE, Table

MEASURED = ("conforms", "deviates")
#: What other modes are next to: nothing is kept of it.
EAGER = "eager"


def within(cell: Cell, clause: Clause, mode: str, version: Version, table: Table) -> Cell:
    """Return what a cell in a mode says of the programs that the clause promises something about.

    What torch does otherwise than as declared stays, and so does a cell of a clause of which nothing is kept.
    """
    if mode == EAGER or cell.verdict not in MEASURED:
        return cell
    digest, modes = table.within.get(clause.id, ("", {}))
    if cell.new or not digest or digest != clause.digest:
        return cell
    said = _said(modes.get(mode, ()), version)
    by = said.get("by", "")
    if "plans" in said and not by.startswith(RULE):
        return Cell("unseen", note=_few(said["plans"]))
    if by:
        says = next((one.says for one in clause.deviations if one.name == by), table.rules.get((mode, by), ""))
        found = replace(cell, verdict="deviates", declared=True, deviation=by, note=says)
        return cell if by == cell.deviation else replace(found, evidence=None)
    besides = (
        *(Beside(by, _words(words), table.rules.get((mode, by), "")) for by, words in said.get("outside", ())),
        *(Beside("", " and ".join(said[each]), "not measured") for each in ("without",) if each in said),
    )
    if not besides and cell.verdict == "conforms":
        return cell
    note = "; ".join(one.text for one in besides)
    return Cell("conforms", cell.reading, note=note, digest=cell.digest, restamped=cell.restamped, besides=besides)


def _said(rows: Sequence[Any], version: Version) -> Mapping[str, Any]:
    """Return what the last row says that begins with this release or an older one."""
    return next((said for first, said in reversed(rows) if _release(first) <= version.release), {})


@functools.cache
def _release(text: str) -> tuple[int, ...]:
    return Version(text).release


def _few(plans: int) -> str:
    """Return why a mode says nothing of a sentence, though it plays plans of the clause."""
    if not plans:
        return "this mode plays no plan with the hook within what the sentence promises"
    return f"this mode plays {counted(plans, 'plan', 'plans')} within what the sentence promises: too few to tell"


def _words(sets: Sequence[Sequence[str]]) -> str:
    return " or ".join(" with ".join(words) for words in sets)
