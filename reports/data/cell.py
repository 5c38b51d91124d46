"""A cell as the reports read it, from a run file or from the record: what was measured of one clause on one torch."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BROKEN = ("deviates", "crashed", "hung")
BARE = 3  # a recorded cell with only its verdict, reading and digest


@dataclass(frozen=True)
class Beside:
    """What a mode does outside of what a sentence promises: for such programs this is so, by the rule of that name."""

    rule: str
    words: str
    says: str

    @property
    def unplayed(self) -> list[str]:
        """The APIs that the mode plays no plan with, where that is what it says."""
        return [] if self.rule else self.words.split(" and ")

    @property
    def text(self) -> str:
        """The whole for a reader."""
        return f"for {self.words}: {self.says}"


@dataclass(frozen=True)
class Cell:
    """What is known of one clause on one torch in one mode; `digest` is of the text of the clause that was measured."""

    verdict: str
    #: Its name; in what is recorded its place among the readings of the clause, and so those of `holds`.
    reading: Any = None
    declared: bool = False
    holds: tuple[Any, ...] = ()
    note: str = ""
    evidence: Mapping[str, Any] | None = None
    deviation: str | None = None
    digest: str = ""
    #: Whether it was measured with an older text, and that of `digest` gives the same: see `restamping.py`.
    restamped: bool = False
    #: What its plans need that the torch lacks in the mode: dotted names, and exclusions of the mode.
    lacks: tuple[str, ...] = ()
    #: What a mode does outside of what the sentence promises: never recorded, see `within.py`.
    besides: tuple[Beside, ...] = ()
    #: How many plans were played, where a run played a few in this mode: never recorded. None where it was all.
    few: int | None = None

    @classmethod
    def of_line(cls, line: Mapping[str, Any], digest: str) -> Cell:
        """Return the cell of a line of a run file."""
        return cls(
            line["verdict"],
            line["reading"],
            line["declared"],
            tuple(sorted(line["holds"])),
            line["note"],
            line["evidence"],
            line.get("deviation") or None,
            digest,
            lacks=tuple(line.get("lacks", ())),
            few=line.get("few"),
        )

    @classmethod
    def of_record(cls, entry: Mapping[str, Any]) -> Cell:
        """Return the cell that is recorded so."""
        if len(entry) == BARE:
            return bare_cell(**entry)
        lists = {name: tuple(entry.get(name, ())) for name in ("holds", "lacks")}
        return cls(**{**entry, **lists})

    @property
    def bare(self) -> bool:
        """Whether no more is known of it than its verdict, reading and digest."""
        some = self.declared or self.deviation or self.holds or self.note or self.evidence or self.restamped
        return not (some or self.lacks)

    @property
    def plain(self) -> dict[str, Any]:
        """What an answer in JSON says of it at least."""
        return {"verdict": self.verdict, "reading": self.reading, "declared": self.declared, "holds": list(self.holds)}

    @property
    def more(self) -> dict[str, Any]:
        """What is known besides verdict and reading, as JSON; what there is nothing of is left out."""
        found = {
            "declared": self.declared,
            "deviation": self.deviation,
            "holds": list(self.holds),
            "note": self.note,
            "evidence": self.evidence,
            "digest": self.digest,
            "restamped": self.restamped,
            "lacks": list(self.lacks),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def state(self) -> tuple[Any, ...]:
        """What makes two cells equal for a reader: the verdict, the reading, and which reading or bug is there."""
        bug = self.deviation or self.note if self.declared else None  # older files name it by its sentence only
        return self.verdict, self.reading, self.holds, bug

    @property
    def essence(self) -> tuple[Any, ...]:
        """What the evidence shows, without the words that name the torch it was seen on."""
        if self.evidence is None:
            return ()
        shown = (self.evidence["plan"], tuple(self.evidence["expected"]), tuple(self.evidence["observed"]))
        return shown if any(shown) else (self.evidence["message"],)

    @property
    def traces(self) -> tuple[list[str], list[str]] | None:
        """The expected trace and the observed one, as lines; None where there is no evidence."""
        return None if self.evidence is None else (self.evidence["expected"], self.evidence["observed"])

    @property
    def partial(self) -> bool:
        """Whether a few plans were played and found nothing: that says less than what is recorded."""
        return self.few is not None and not (self.verdict in BROKEN and not self.declared)

    @property
    def new(self) -> bool:
        """Whether this deviation is one nobody declared."""
        return self.verdict == "deviates" and not self.declared


Key = tuple[str, str]  # clause and mode
Cells = Mapping[str, Mapping[str, Cell]]  # clause -> mode -> cell


@functools.cache
def bare_cell(verdict: str, reading: Any, digest: str) -> Cell:
    """Return the cell of which no more is known, the same one each time: most of a million cells are such."""
    return Cell(verdict, reading, digest=digest)
