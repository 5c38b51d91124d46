"""The scope: each word has a program that shows what happens outside; limits and links of clauses; the tool."""

from __future__ import annotations

import runpy
import warnings

import pytest

from fixtures.clause.clause import CLAUSES
from fixtures.clause.usual import ENOUGH, NAMES, SURROUNDINGS, WORDS, Beyond
from fixtures.stages.stage import missing
from reports.__main__ import main
from reports.data import scope as words
from reports.data.atlas import build
from reports.data.statements import statement
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.core import counterexamples, random_additions

import_suites()
EVERY = (*SURROUNDINGS, *WORDS)
#: Plans of each clause in which a word must be met, by some clause.
PLANS = 25


@pytest.mark.parametrize("word", EVERY, ids=lambda word: word.name)
def test_a_program_shows_what_happens_outside(word) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(words.PROGRAMS / word.program), run_name="__main__")


def test_there_is_a_program_for_each_word_and_no_other() -> None:
    assert sorted(path.name for path in words.PROGRAMS.glob("*.py")) == sorted(word.program for word in EVERY)
    assert all(
        part.outside.endswith(".") and part.usual.endswith(".") for parts in words.scope().values() for part in parts
    )


def test_every_word_is_gone_beyond_by_plans_of_some_clause() -> None:
    """In words that no plan ever goes beyond no clause can be tested: they belong to the surroundings."""
    met: set[str] = set()
    for clause in CLAUSES.values():
        if clause.plays and not missing(clause.needs) and met < set(NAMES):
            met |= {word.name for plan in drawn(clause.id, PLANS) for word in WORDS if word.beyond(plan)}
    assert set(NAMES) - met == set()


def test_a_word_counts_where_enough_plans_go_beyond_it() -> None:
    (plan,) = drawn("ordering.nested.shared_forward", 1)
    for many, names in ((ENOUGH - 1, False), (ENOUGH, True)):
        beyond = Beyond()
        for _ in range(many):
            beyond.add(plan)
        assert ("shared modules" in beyond.names) is names


def answers() -> dict[str, dict[str, str]]:
    """Return clause -> release -> what it is there in eager mode."""
    table = read_table()
    atlas = build(table, read_recorded())
    return {
        name: {column.key: statement(clause, atlas.cell(name, column, "eager")).answer for column in atlas.columns}
        for name, clause in atlas.clauses.items()
    }


def test_what_a_link_leads_to_is_true_where_the_sentence_is() -> None:
    """On the newest release on which the sentence itself is true, the clause that states its exception is true too."""
    found, wrong = answers(), []
    for clause in CLAUSES.values():
        holds = [release for release, answer in found.get(clause.id, {}).items() if answer == "holds"]
        for name in clause.see:
            if name not in CLAUSES:
                wrong.append(f"{clause.id}: there is no clause {name}")
            elif holds and name in found and found[name][holds[-1]] not in ("holds", "unseen"):
                wrong.append(f"{clause.id}: {name} is {found[name][holds[-1]]} on torch {holds[-1]}")
    wrong += [f"{word.name}: there is no clause {name}" for word in EVERY for name in word.see if name not in CLAUSES]
    assert wrong == []


def test_a_limit_reads_well_and_says_what_the_sentence_does_not() -> None:
    """A phrase of `where=` is not what the sentence says already, and not a word that reads badly behind "where"."""
    wrong = [
        f"{clause.id}: {phrase}"
        for clause in CLAUSES.values()
        for phrase in clause.where
        if phrase.startswith(("where ", "without ", "if ", "when ")) or phrase.lower() in clause.says.lower()
    ]
    assert wrong == []


def test_tested_says_it_in_one_line() -> None:
    assert words.tested(None) == "tested with one program, or with drawn values in it"
    assert words.tested(()) == "tested with usual programs"
    assert (
        words.tested(("keyword inputs", "eval()")) == "tested with usual programs, and beyond: keyword inputs, eval()"
    )


def test_the_verb_prints_a_program_and_refuses_other_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scope"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in NAMES)
    assert main(["scope", "keyword inputs"]) == 0
    assert capsys.readouterr().out == (words.PROGRAMS / "keyword-inputs.py").read_text("utf-8")
    assert main(["scope", "keyword"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_tool_for_authors_breaks_what_is_too_wide_and_nothing_else() -> None:
    chain = counterexamples.tried(CLAUSES["ordering.nested.full_backward"], 150, 5)
    assert {"a second pass", "keyword inputs"} & {word for beyond in chain for word in beyond}
    compared = counterexamples.tried(CLAUSES["backward.firing.any_network"], 30, 5)
    assert compared == {}  # the model agrees with itself


def test_additions_are_the_same_from_the_same_seed() -> None:
    plans = drawn("ordering.nested.full_backward", 5)
    made = [[random_additions.Adder(seed).added(plan, 3) for plan in plans] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]
