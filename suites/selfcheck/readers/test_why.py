"""Symptoms: every cause is a clause or a program that shows it, and the verb lists them."""

from __future__ import annotations

import json
import runpy
import warnings
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.data.claims import sentences
from reports.data.verdicts import read_recorded, read_table
from reports.search.answers import ANSWERS
from reports.search.ask import search
from reports.symptoms.programs import PROGRAMS
from reports.symptoms.symptoms import SYMPTOMS

CAUSES = [cause for one in SYMPTOMS for cause in one.causes]
SHOWN = sorted({one.program for one in (*CAUSES, *ANSWERS) if one.program})
#: What people saw -> the symptoms that are right; nothing where none is.
SEEN = json.loads((Path(__file__).parent / "asked" / "symptoms.json").read_text("utf-8"))


def test_a_cause_is_a_clause_that_says_so_on_the_newest_torch_or_a_program():
    newest, clauses = read_recorded()[-1], read_table().clauses
    for cause in CAUSES:
        assert bool(cause.clause) != bool(cause.program)
        if cause.clause:
            cell = newest.cells[cause.clause]["eager"]
            assert cell.verdict == "conforms", cause
            assert clauses[cause.clause].readings[cell.reading].says_the_same, cause


def test_there_is_a_program_for_each_name_and_no_other():
    assert sorted(path.name for path in PROGRAMS.glob("*.py")) == SHOWN


@pytest.mark.parametrize("name", SHOWN)
def test_a_program_shows_its_cause(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(PROGRAMS / name), run_name="__main__")


def test_the_verb_lists_causes_in_order_with_their_releases(capsys):
    assert main(["why"]) == 0
    listed = capsys.readouterr().out
    assert all(one.name in listed for one in SYMPTOMS)
    for one in SYMPTOMS[::9]:
        assert main(["why", *one.name.split(), "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)["symptoms"][0]
        assert found["symptom"] == one.name
        assert [cause["says"] for cause in found["causes"]] == [cause.says for cause in one.causes]
        assert all(("history" in cause) != ("program" in cause) for cause in found["causes"])
    assert main(["why", "memory", "grows,", "and", "it", "is", "slow"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("it leaks memory, or is slow:")
    assert "a program shows it, on every release" in out
    assert "python -m reports why --program outputs-kept-in-a-list.py" in out


def test_the_verb_prints_a_program_and_refuses_what_it_does_not_know(capsys):
    assert main(["why", "--program", SHOWN[0]]) == 0
    assert capsys.readouterr().out == (PROGRAMS / SHOWN[0]).read_text("utf-8")
    assert main(["why", "--program", "nothing.py"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_of_what_people_saw_most_is_found_and_none_where_none_fits():
    ask = search(sentences(read_table().clauses))
    assert all(ask.fitting(one.name) == [one] for one in SYMPTOMS)
    right = 0
    for words, wanted in SEEN.items():
        found = [one.name for one in ask.fitting(words)]
        right += found[0] in wanted if found and wanted else not found and not wanted
    assert right / len(SEEN) > 0.9


def test_where_none_fits_the_verb_says_so_and_lists_all(capsys):
    for words in ("xyzzy", "the loss does not decrease", "my data loader hangs"):
        assert main(["why", *words.split()]) == 1
        out = capsys.readouterr().out
        assert out.startswith("No symptom fits.")
        assert all(one.name in out for one in SYMPTOMS)
    assert main(["why", "xyzzy", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["symptoms"] == []
    assert main(["why", "can", "I", "switch", "hooks", "off", "for", "a", "while"]) == 0
    assert capsys.readouterr().out.startswith("torch has no switch")
