"""A clause as the reports read it, from a run file or from the clause table, with its readings and deviations."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from fixtures.clause.about import WHOLE

#: How sentences name the hooks of an API; those of all modules are "global".
SPOKEN = {
    api: re.compile(words, re.IGNORECASE)
    for api, words in {
        "register_backward_hook": "(?<!global )legacy (backward )?hook|full or legacy|legacy ones?",
        "register_full_backward_hook": "(?<!global )full (or legacy )?backward hook|full or legacy",
        "register_full_backward_pre_hook": "(?<!global )full backward (hook or |hook, )?pre-hook",
        "register_forward_pre_hook": "(?<!global )forward (hook or )?pre-hook",
        "register_forward_hook": "(?<!global )forward hook|always_call hook",
        "register_hook": "tensor hook",
        "register_post_accumulate_grad_hook": "post-accumulate hook",
        "retain_grad": "retain_grad",
        "register_step_pre_hook": "(?<!global )step (pre-)?hook",
        "register_step_post_hook": "(?<!global )step (post-)?hook",
    }.items()
}
NEVER = "never"


@dataclass(frozen=True)
class Reading:
    """What a clause says for a range of releases; `says_the_same` where its own sentence is true under it too."""

    name: str
    torch: str
    says: str
    says_the_same: bool = True
    effect: str = "none"

    @property
    def told(self) -> bool:
        """Whether its sentence is one for readers: of most wrong values there is nothing but the name of the value."""
        return self.says != f"Torch does otherwise: {self.name}."

    @property
    def never(self) -> bool:
        """Whether it is stated for no torch: it is there to be refuted."""
        return self.torch == NEVER

    def admits(self, version: Version) -> bool:
        """Say whether it is stated for a version."""
        return not self.never and _contains(self.torch, version.base_version)


@dataclass(frozen=True)
class Deviation:
    """A declared difference between torch and a clause; older files have no name for its cause."""

    name: str
    torch: str
    verdict: str
    says: str
    effect: str
    reason: str
    ref: str
    cause: str = ""
    mode: str = ""


@dataclass(frozen=True)
class Clause:
    """One clause; `record` is all of it as JSON, for what writes it again."""

    id: str
    says: str
    source: tuple[str, ...]
    readings: tuple[Reading, ...]
    code: str
    file: str
    line: int
    digest: str
    record: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    deviations: tuple[Deviation, ...] = ()
    matters_if: str = ""
    instead: str = ""
    where: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    #: What people type who have the problem and do not know the sentence.
    asked: tuple[str, ...] = ()
    #: Whether it only compares whole plans with the model: it says nothing to a user of hooks, and is in no answer.
    checks_model: bool = False
    #: Beyond which words of a usual program it was tested on the newest release; None: it draws no plans.
    beyond: tuple[str, ...] | None = None
    docs: str = ""
    note: str = ""
    level: str = ""

    @classmethod
    def read(cls, id: str, record: Mapping[str, Any]) -> Clause:
        """Return the clause of a record that fits the schema."""
        words = (
            "says",
            "code",
            "file",
            "line",
            "digest",
            "matters_if",
            "instead",
            "docs",
            "note",
            "level",
            "checks_model",
        )
        lists = ("source", "needs", "about", "where", "see", "asked", "beyond")
        return cls(
            id=id,
            record=record,
            readings=tuple(Reading(**one) for one in record["readings"]),
            deviations=tuple(Deviation(**one) for one in record.get("deviations", ())),
            **{name: tuple(record[name]) for name in lists if name in record},
            **{name: record[name] for name in words if name in record},
        )

    @property
    def chapter(self) -> str:
        """The chapter, the first part of the id."""
        return self.id.partition(".")[0]

    def tested(self, beyond: Iterable[str]) -> Clause:
        """Return the clause with the words of a usual program that it was tested beyond."""
        return self.read(self.id, {**self.record, "beyond": list(beyond)})

    @property
    def limits(self) -> str:
        """Where its sentences are true, beyond what they say themselves: the line below each of them, or ""."""
        return f"where {'; '.join(self.where)}" if self.where else ""

    @property
    def stated(self) -> str:
        """The clause at the head of a script: its id and its sentence, with its limits on the next line."""
        return "\n".join([f"{self.id}: {self.says}", *[self.limits] * bool(self.where)])

    @property
    def hints(self) -> list[str]:
        """What is printed below its sentence: its limits, the clauses with its exceptions, what to write instead."""
        lines = [self.limits] if self.where else []
        lines += [f"see {', '.join(self.see)}"] if self.see else []
        return lines + [f"instead: {self.instead}"] * bool(self.instead)

    @property
    def limited(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"where": list(self.where), "see": list(self.see), "instead": self.instead}

    @functools.cached_property
    def is_claim(self) -> bool:
        """Whether the clause asks if a claim of a tutorial is true: then the names of its readings begin so."""
        return {truth(one.name) for one in self.readings} <= {"true", "false"}

    @functools.cached_property
    def varies(self) -> bool:
        """Whether torch changed on purpose: more than one reading is in force somewhere."""
        return sum(not one.never for one in self.readings) > 1

    @functools.cached_property
    def reading_names(self) -> list[str]:
        """The names of the readings, in their order."""
        return [one.name for one in self.readings]

    def in_force(self, version: Version) -> str | None:
        """Return the name of the reading that the clause claims for a version of torch."""
        return next((one.name for one in self.readings if one.admits(version)), None)

    @functools.cached_property
    def needed(self) -> frozenset[tuple[str, str]]:
        """The APIs that it is about, each with the option that it needs, or ""; older files name none."""
        return frozenset(need(text) for text in self.about)

    @property
    def apis(self) -> frozenset[str]:
        """These APIs alone."""
        return frozenset(api for api, _ in self.needed)

    @functools.cached_property
    def spoken(self) -> frozenset[str]:
        """The APIs whose hooks its sentence names, full and legacy ones alike, besides those that it is about."""
        return frozenset(api for api, words in SPOKEN.items() if words.search(self.says)) - self.apis

    @property
    def asked_as(self) -> frozenset[str]:
        """What a question for the clause may name: its APIs, and each with its option in brackets."""
        return self.apis | self.spoken | {f"{api}({option})" for api, option in self.needed if option}


Clauses = Mapping[str, Clause]


def read_clauses(records: Mapping[str, Mapping[str, Any]]) -> dict[str, Clause]:
    """Return the clauses of a table that fits the schema."""
    return {name: Clause.read(name, record) for name, record in records.items()}


def truth(reading: str | None) -> str:
    """Return "true" or "false" for a reading of a claim, which may be "false since 1.8"."""
    return (reading or "").partition(" ")[0]


@functools.cache
def need(text: str) -> tuple[str, str]:
    """Return a dotted name as APIs are called, and its option: ("register_forward_hook", "prepend")."""
    path, _, option = text.removesuffix(")").partition("(")
    owner, _, last = path.rpartition(".")
    name = f"{owner.rpartition('.')[2]}.{last}"
    return name if name in WHOLE.values() else last, option


def known_apis(clauses: Clauses) -> frozenset[str]:
    """Return every API that some clause is about."""
    return frozenset(api for clause in clauses.values() for api in clause.apis)


@functools.cache
def _contains(versions: str, version: str) -> bool:
    return SpecifierSet(versions).contains(version, prereleases=True)
