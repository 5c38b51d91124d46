"""A claim: a sentence that learners meet. It has no test: clauses of the suite decide it on each release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: In place of the name of a reading: the torch lacks what the clause needs.
ABSENT = "absent"
NOTES = "tutorials: widely read study notes, 2019-2022"


@dataclass(frozen=True)
class Answer:
    """Whether the claim is true: so where each of the clauses in `by` has the reading, or one of the readings, there.

    `name` begins with "true" or "false"; `torch` are the releases that are known to give this answer, and `effect` is
    what torch does to a user there, as of a reading.
    """

    name: str
    torch: str
    says: str
    by: Mapping[str, str | tuple[str, ...]]
    effect: str = "none"


@dataclass(frozen=True)
class Claim:
    """The sentence, what it is about, and its answers; the first clause that decides it lends its example."""

    id: str
    says: str
    source: tuple[str, ...]
    answers: tuple[Answer, ...]
    about: tuple[str, ...]
    needs: str = ""
    note: str = ""
    asked: str = ""

    @property
    def clauses(self) -> list[str]:
        """The clauses that decide it."""
        return list(dict.fromkeys(name for answer in self.answers for name in answer.by))
