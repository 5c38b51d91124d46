"""What a clause says on one torch: the sentence of the reading or deviation in force there, and what that means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from fixtures.clause.clause import EFFECTS
from fixtures.target.target import KNOWN
from reports.data.cell import BROKEN, Cell
from reports.data.clause import Clause, truth
from reports.data.forms import begun
from reports.data.table import RULE

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
#: What a statement does to a user, in words: `silent` are other values or calls than the clause's first reading gives.
IN_WORDS = {"silent": "other values or calls", "error": "raises", "warning": "warns", "none": ""}
#: What a change is to someone who upgrades, worst first, new APIs last: a key, and the words for the reader.
KINDS = {
    "silent": "other values or calls, without a word",
    "error": "errors that begin",
    "warning": "warnings that begin",
    "fixed": "fixed: errors and warnings that end, and bugs",
    "internal": "different, breaks nothing",
    "added": "new APIs",
}
#: One word for each, in a summary and at an entry.
WORDS = {
    "silent": "silent",
    "error": "error",
    "warning": "warning",
    "fixed": "fixed",
    "internal": "different",
    "added": "new API",
}
#: The kind of a change: the effect before it -> the effect behind it -> the kind.
CHANGES = {
    "none": {"none": "internal", "warning": "warning", "error": "error", "silent": "silent"},
    "warning": {"none": "fixed", "warning": "warning", "error": "error", "silent": "silent"},
    "error": {"none": "fixed", "warning": "fixed", "error": "internal", "silent": "fixed"},
    "silent": {"none": "silent", "warning": "warning", "error": "error", "silent": "silent"},
}
#: Torch does one thing, which is not what the sentence of the clause says.
CONSTANT = ("otherwise", "false", "deviates")
#: There is nothing to call: what comes after it breaks no code, whatever it is.
NOTHING = ("absent", "refused")
UNKNOWN = "Torch does something else; no statement describes it."


@dataclass(frozen=True)
class Statement:
    """The sentence in force in one cell; `cause`, `reason` and `ref` (an address, or "measured") of a deviation only.

    `detail` is the sentence of the reading in force, where the clause's own is true too and so is what `says` holds.
    `new` is a deviation that nobody declared. The rule of a mode is no `cause` for a reader: its sentence is said.
    """

    says: str
    answer: str
    effect: str = "none"
    reason: str = ""
    ref: str = ""
    detail: str = ""
    new: bool = False
    cause: str = ""
    #: What a mode does outside of what the sentence promises.
    besides: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether the sentence of the clause itself is true here: what a tick is for."""
        return self.answer in ("holds", "true")

    @property
    def constant(self) -> bool:
        """Whether it is known what torch does where the clause's own sentence is not true: a program may rely on it."""
        return self.answer in CONSTANT and self.says != UNKNOWN and not self.new

    @property
    def told(self) -> bool:
        """Whether it says what torch does: it is measured, and there is something to call."""
        return self.good or self.constant or self.answer in BROKEN

    @property
    def weight(self) -> int:
        """How bad the effect is, the worst is 0; where there is nothing to call it is the least."""
        return len(EFFECTS) if self.answer in NOTHING else EFFECTS.index(self.effect)

    @property
    def words(self) -> str:
        """The statement for a reader: "otherwise (raises): Not allowed." with the cause of a deviation in brackets."""
        effect = f" ({IN_WORDS[self.effect]})" if self.effect != "none" and not self.good else ""
        known = ("not written down by us" * self.new, self.cause, self.reason.rstrip("."), self.ref)
        why = "; ".join(part for part in known if part)
        said = f"{self.answer}{effect}" + (f": {self.says}" if self.says else "") + (f" [{why}]" if why else "")
        return "; ".join((said.removesuffix("."), *self.besides)) if self.besides else said

    def plain(self) -> dict[str, Any]:
        """The statement as plain data; what is empty is left out."""
        found = {"says": self.says, "answer": self.answer, "effect": self.effect}
        more = {"detail": self.detail, "cause": self.cause, "reason": self.reason, "ref": self.ref}
        besides = {"besides": list(self.besides)} if self.besides else {}
        return {**found, **{name: value for name, value in more.items() if value}, **besides}


def in_contrast(before: Statement, after: Statement) -> tuple[str, str]:
    """Return both in words: where the clause's own sentence is true on both sides, those of the readings."""
    if before.says == after.says:
        before, after = (replace(each, says=each.detail or each.says) for each in (before, after))
    return before.words, after.words


def kind_of_change(before: Statement, after: Statement) -> str:
    """Return what it is to someone who upgrades that one statement follows another: a key of KINDS."""
    if before.answer in NOTHING:
        return "internal" if after.answer in NOTHING else "added"
    if after.answer in NOTHING:
        return "error"
    if before.answer in BROKEN and after.good:
        return "fixed"
    return CHANGES[before.effect][after.effect]


def effect_between(statements: Sequence[Statement]) -> str:
    """Return the worst, one of EFFECTS, that it is to code which runs on all of these, one after the other."""
    pairs = [(one, other) for pair in pairwise(statements) for one, other in (pair, pair[::-1])]
    kinds = {kind_of_change(one, other) for one, other in pairs}
    return next((effect for effect in EFFECTS if effect in kinds), "none")


def statement(clause: Clause, cell: Cell) -> Statement:
    """Return what the clause says in this cell."""
    if cell.verdict == "conforms":
        return replace(_reading(clause, cell.reading), besides=tuple(one.text for one in cell.besides))
    if cell.declared:
        for one in clause.deviations:
            if cell.deviation == one.name:
                return Statement(one.says, cell.verdict, one.effect, one.reason, one.ref, cause=one.cause)
    reason = cell.note if cell.deviation == KNOWN else ""
    if cell.verdict == "deviates":
        told = {one.name for one in clause.readings if one.told}
        known = [_reading(clause, name) for name in cell.holds if name in told]
        says, effect = (
            (known[0].detail or known[0].says, known[0].effect) if known else (cell.note or UNKNOWN, "silent")
        )
        # What the clause does not list is a rule of a mode: its sentence is the note, and nobody hears of it.
        known_as = cell.deviation if cell.declared and cell.deviation else ""
        rule = "" if known_as.startswith(RULE) else known_as
        reason = reason if reason != says else ""
        effect = effect if effect != "none" else "silent"
        return Statement(says, cell.verdict, effect, reason, cause=rule, new=cell.new)
    if cell.verdict in ("crashed", "hung"):
        return Statement(f"The process {cell.verdict}.", cell.verdict, "error", reason)
    missing = _missing(clause.needs) if cell.verdict == "absent" else ""
    return Statement(begun(cell.note) or missing, cell.verdict)


def _missing(needs: Sequence[str]) -> str:
    """Return what an absent cell says where the file does not: it was not recorded which of several is missing."""
    if len(needs) == 1:
        return f"This torch has no {needs[0]}."
    return f"This torch lacks at least one of {', '.join(needs)}." if needs else ""


def _reading(clause: Clause, name: str | None) -> Statement:
    """Return what a reading says: the clause's own sentence wherever that is true."""
    found = next((one for one in clause.readings if one.name == name), None)
    if found is None:
        return Statement(UNKNOWN, "otherwise", "silent")
    detail = found.says if found.says != clause.says else ""
    answer = truth(name) if clause.is_claim else "holds" if found.says_the_same else "otherwise"
    if answer in ("holds", "true"):
        return Statement(clause.says, answer, found.effect, detail=detail)
    return Statement(found.says or UNKNOWN, answer, found.effect)
