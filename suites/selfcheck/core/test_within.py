"""What modes do otherwise within what clauses promise: what is kept is of the clauses and rules of now, and is so."""

from __future__ import annotations

import json

import pytest

from fixtures.clause.clause import CLAUSES
from fixtures.clause.source import instruments
from fixtures.clause.usual import WORDS
from fixtures.clause.within import NAMED, Within
from fixtures.draw.contract import drawing_for
from fixtures.judge.corpus import NEWEST
from suites import within
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.core.brute_within import faults, sample

import_suites()
#: Others wherever an instrument changes: what that changes is met sooner or later.
SAMPLE = sample(3, instruments())


def test_each_word_of_a_usual_program_has_words_that_name_it() -> None:
    assert list(NAMED) == [word.name for word in WORDS]


def test_nothing_that_is_kept_is_of_an_older_text_or_rule() -> None:
    assert within.stale() == [], "make it anew: python -m suites.within"


@pytest.mark.parametrize("name", SAMPLE)
def test_what_is_kept_is_what_is_made_now(name: str) -> None:
    made = json.loads(json.dumps(within.of_clause(name)))
    assert within.kept()["clauses"][name][1] == made, "make it anew: python -m suites.within --all"


@pytest.mark.parametrize("name", SAMPLE)
def test_other_plans_inside_show_the_same(name: str) -> None:
    assert list(faults(name)) == []


def test_a_sentence_is_not_about_global_hooks_that_it_does_not_name() -> None:
    clause = CLAUSES["handles.removal.as_if_never_registered"]
    with drawing_for(NEWEST):
        plans = drawn(clause.id, 30)
        found = Within(clause, plans)
    outside = {plan: found.outside(plan) for plan in plans}
    assert "global hooks" not in found.named
    assert "removed hooks" in found.named
    everywhere = [words for plan, words in outside.items() if within.everywhere(plan)]
    assert everywhere
    assert all("global hooks" in words for words in everywhere)
