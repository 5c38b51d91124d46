"""What a recorded target does with clauses: holds, differs, declines, needs what is not there, or was not measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.version import Version

from reports.data.atlas import recorded_cells
from reports.data.cell import Cell
from reports.data.clause import Clause, Clauses
from reports.data.statements import statement
from reports.data.table import Table
from reports.data.verdicts import Recorded
from reports.record.targets import EAGER, Target

#: How a clause may be on a target, the worst first, and how one and several of them are counted.
GROUPS = {
    "differs": ("differs as its file says", "differ as its file says"),
    "declined": ("is declined by the target itself", "are declined by the target itself"),
    "lacks": ("needs what the target lacks", "need what the target lacks"),
    "otherwise": ("is otherwise, as on its torch", "are otherwise, as on its torch"),
    "absent": ("is about an API that is not there", "are about an API that is not there"),
    "unmeasured": ("is not measured there", "are not measured there"),
    "holds": ("holds there", "hold there"),
}
UNASKED = "not measured there with the text that it has now; those about the CPU or without tensors are not asked"


@dataclass(frozen=True)
class Told:
    """One clause on a target: in which group it is, and what is said of it."""

    record: Clause
    group: str
    says: str
    verdict: str = ""
    #: Of what was refused: why, in the words of the run, and the reasons of the features that it names.
    note: str = ""
    why: tuple[str, ...] = ()

    @property
    def clause(self) -> str:
        """Its id."""
        return self.record.id


def told(target: Target, clauses: Clauses, chosen: Iterable[str]) -> list[Told]:
    """Return what is known of these clauses on a target, in their order."""
    measured = target.measured(clauses)
    version = Version(target.record["torch"])
    return [_told(target, clauses[name], measured.get(name, ""), version) for name in chosen]


def _told(target: Target, clause: Clause, verdict: str, version: Version) -> Told:
    if not verdict:
        return Told(clause, "unmeasured", UNASKED)
    if clause.id in target.known:
        found = target.known[clause.id]
        apart = f" ({found['apart']}: a plan without hooks differs, too)" if "apart" in found else ""
        return Told(clause, "differs", f"{verdict}: {found['why']}{apart}", verdict)
    if verdict == "refused":
        note = target.notes[clause.id]
        why = tuple(target.record["lacks"][name]["why"] for name in target.lacks(note))
        says = f"{note} ({'; '.join(why)})" if why else note
        return Told(clause, "lacks" if why else "declined", says, verdict, note, why)
    if verdict == "conforms":
        said = statement(clause, Cell(verdict, clause.in_force(version)))
        return Told(clause, "holds" if said.good else "otherwise", said.says, verdict)
    words = "its API is not there" if verdict == "absent" else f"{verdict}, as is written down of torch itself"
    return Told(clause, "absent" if verdict == "absent" else "otherwise", words, verdict)


def from_release(
    target: Target, table: Table, clauses: Clauses, chosen: Iterable[str], release: Recorded
) -> tuple[list[tuple[Told, str]], int, int]:
    """Return what is not as recorded of its torch, each with what is there, worst first; how much is the same, unknown.

    Unknown is what was not measured on both with the text that it has now.
    """
    recorded = recorded_cells(release, table)
    found, same, unknown = [], 0, 0
    for one in told(target, clauses, chosen):
        cell = recorded.get((one.clause, EAGER))
        if not one.verdict or cell is None or cell.verdict == "unseen":
            unknown += 1
        elif one.verdict == cell.verdict and one.group != "differs":
            same += 1
        else:
            found.append((one, statement(one.record, cell).words))
    return sorted(found, key=lambda pair: worst_first(pair[0])), same, unknown


def worst_first(one: Told) -> tuple[int, bool, bool]:
    """Return how bad it is: other values or calls first, then an end of the process, then what raises an error."""
    return list(GROUPS).index(one.group), "no matter of hooks" in one.says, one.verdict != "deviates"
