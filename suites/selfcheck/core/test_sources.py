"""Who says what a clause says: every quoted source holds the quoted words, and every sentence can be read alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fixtures.clause.clause import CLAUSES
from reports.data.claims import CLAIMS
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.author.sources import (
    LOOKED_UP,
    fault_of_level,
    fault_of_source,
    faults_of_clause,
    faults_of_sentences,
    split,
)

import_suites()
SOURCES = sorted({source for one in (*CLAUSES.values(), *CLAIMS.values()) for source in one.source})
QUOTES = [source for source in SOURCES if split(source)[1]]


def listed(faults: Mapping[str, str]) -> str:
    """Return one line for each name that has a fault."""
    return "\n".join(f"{name}: {fault}" for name, fault in faults.items() if fault)


def test_the_level_has_its_source() -> None:
    faults = listed({name: fault_of_level(clause) for name, clause in CLAUSES.items()})
    assert not faults, faults


def test_the_quoted_words_are_there() -> None:
    faults = listed({source: fault_of_source(source) for source in SOURCES})
    assert not faults, faults


def test_what_was_looked_up_is_quoted() -> None:
    listed = {(where, words) for where, entry in LOOKED_UP.items() for words in entry["says"]}
    assert listed == {split(source) for source in QUOTES if not source.startswith(("docs: ", "code: "))}
    assert list(LOOKED_UP) == sorted(LOOKED_UP)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", entry["looked_up"]) for entry in LOOKED_UP.values())


def test_every_sentence_can_be_read_alone() -> None:
    found = {name: faults_of_clause(clause) for name, clause in CLAUSES.items()}
    found |= {
        name: faults_of_sentences({one.says, *(each.says for each in one.answers)}) for name, one in CLAIMS.items()
    }
    faults = listed({name: "; ".join(each) for name, each in found.items()})
    assert not faults, faults
