"""What a clause says on one torch: the sentence of the reading or deviation in force there, and what that means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports.atlas import Cell, is_claim, truth

#: What a cell is to a reader, in the order shown: `holds` where the sentence of the clause is true, `otherwise` where
#: torch behaves as recorded and that sentence is not true; `true` and `false` of claims; else the verdict.
ANSWERS = (
    "holds",
    "true",
    "otherwise",
    "false",
    "deviates",
    "crashed",
    "hung",
    "refused",
    "absent",
    "unseen",
)
#: What a difference does to code that relied on the other side, worst first.
HARMS = ("silent", "error", "warning", "none")
UNKNOWN = "Torch does something else; no statement describes it."


@dataclass(frozen=True)
class Statement:
    """The sentence in force in one cell; `reason` and `ref` (an address, or "measured") only of a deviation."""

    says: str
    answer: str
    harm: str = "none"
    reason: str = ""
    ref: str = ""

    @property
    def good(self) -> bool:
        """Whether the sentence of the clause itself is true here: what a tick is for."""
        return self.answer in ("holds", "true")


def statement(clause: Mapping[str, Any], cell: Cell) -> Statement:
    """Return what the clause says in this cell."""
    if cell.verdict == "conforms":
        return _reading(clause, cell.reading)
    for one in clause.get("deviations", ()):
        if cell.deviation == one["name"] and cell.declared:
            return Statement(one["says"], cell.verdict, one["harm"], one["reason"], one["ref"])
    if cell.verdict == "deviates":
        known = [_reading(clause, name) for name in cell.holds]
        says, harm = (known[0].says, known[0].harm) if known else (cell.note or UNKNOWN, "silent")
        return Statement(says, cell.verdict, harm if harm != "none" else "silent")
    if cell.verdict in ("crashed", "hung"):
        return Statement(f"The process {cell.verdict}.", cell.verdict, "error")
    return Statement(cell.note[:1].upper() + cell.note[1:], cell.verdict)


def _reading(clause: Mapping[str, Any], name: str | None) -> Statement:
    """Return what a reading says: the clause's own sentence wherever that is true and nothing else is known."""
    found = next((one for one in clause["readings"] if one["name"] == name), None)
    if found is None:
        return Statement(clause["says"], "holds")
    headline = found.get("headline", True)
    if is_claim(clause):
        answer = truth(name)
        return Statement(clause["says"] if answer == "true" else found["says"], answer, found.get("harm", "none"))
    says = clause["says"] if headline else found["says"]
    return Statement(says, "holds" if headline else "otherwise", found.get("harm", "none"))
