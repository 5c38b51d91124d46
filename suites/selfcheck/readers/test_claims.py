"""Claims of tutorials: what decides them is there, and on each recorded release one answer holds, as is said of it."""

from __future__ import annotations

import pytest

from reports.data.atlas import build
from reports.data.cell import Cell
from reports.data.claims import CLAIMS, answers, sentences, shown_by
from reports.data.verdicts import read_recorded, read_table
from reports.tutorial.claim import ABSENT

TABLE = read_table()
CLAUSES = sentences(TABLE.clauses)
TURNED = CLAIMS["tutorial.tensor.t27_known_to_the_node"]
VERSION, GONE = TURNED.clauses


@pytest.mark.parametrize("name", CLAIMS)
def test_what_decides_a_claim_is_a_sentence_with_such_a_reading(name):
    for answer in CLAIMS[name].answers:
        for clause, named in answer.by.items():
            known = {one.name for one in CLAUSES[clause].readings if not one.never} | {ABSENT}
            assert known >= ({named} if isinstance(named, str) else set(named)), clause


def test_on_each_release_the_answer_holds_that_is_said_of_it():
    atlas = build(TABLE, read_recorded())
    found = {(name, column): atlas.cell(name, column, "eager") for name in CLAIMS for column in atlas.columns}
    assert {cell.verdict for cell in found.values()} == {"conforms", "absent"}
    said = {key: CLAUSES[key[0]].in_force(key[1].version) for key in found}
    assert {key: cell.reading for key, cell in found.items() if cell.verdict == "conforms"} == {
        key: said[key] for key, cell in found.items() if cell.verdict == "conforms"
    }
    # Where no clause says that an API is missing the claim is as old as torch.
    absent = {name for (name, _), cell in found.items() if cell.verdict == "absent"}
    assert absent == {name for name, one in CLAIMS.items() if one.needs}


def cells(version, gone):
    return answers({(VERSION, "eager"): version, (GONE, "eager"): gone}, CLAUSES)


@pytest.mark.parametrize(
    ("version", "gone", "verdict", "reading", "note"),
    [
        (Cell("conforms", "its own version"), Cell("conforms", "always"), "conforms", "true", ""),
        (Cell("conforms", "the first hook's version"), Cell("conforms", "always"), "conforms", "false", ""),
        (Cell("conforms", "its own version"), Cell("absent"), "absent", None, ""),
        (
            Cell("deviates"),
            Cell("conforms", "always"),
            "unseen",
            None,
            f"decided by {VERSION}: deviates",
        ),
        (Cell("conforms", "its own version"), Cell("hung"), "unseen", None, f"decided by {GONE}: hung"),
    ],
)
def test_the_clauses_of_a_claim_decide_it(version, gone, verdict, reading, note):
    (found,) = cells(version, gone).values()
    assert (found.verdict, found.reading, found.note) == (verdict, reading, note)


def test_a_run_without_all_its_clauses_does_not_answer_a_claim():
    assert answers({(VERSION, "eager"): Cell("conforms", "its own version")}, CLAUSES) == {}


def test_the_first_clause_of_a_claim_lends_it_its_example():
    assert (shown_by(TURNED.id), shown_by(VERSION)) == (VERSION, VERSION)
