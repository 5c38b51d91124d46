"""Symptoms: every cause is a clause or a program that shows it, and the verb lists them."""

from __future__ import annotations

import json
import runpy
import warnings

import pytest

from reports.__main__ import main
from reports.data.verdicts import read_recorded, read_table
from reports.symptoms.programs import PROGRAMS
from reports.symptoms.symptoms import SYMPTOMS

CAUSES = [cause for one in SYMPTOMS for cause in one.causes]
SHOWN = sorted({cause.program for cause in CAUSES if cause.program})


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
    for one in SYMPTOMS:
        assert main(["why", *one.name.split(), "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)["symptoms"][0]
        assert found["symptom"] == one.name
        assert [cause["says"] for cause in found["causes"]] == [cause.says for cause in one.causes]
        assert all(("history" in cause) != ("program" in cause) for cause in found["causes"])
    assert main(["why", "is", "it", "slow"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("it leaks memory, or is slow:")
    assert "not measured yet" in out
    assert "python -m reports why --program outputs-kept-in-a-list.py" in out


def test_the_verb_prints_a_program_and_refuses_what_it_does_not_know(capsys):
    assert main(["why", "--program", SHOWN[0]]) == 0
    assert capsys.readouterr().out == (PROGRAMS / SHOWN[0]).read_text("utf-8")
    assert main(["why", "--program", "nothing.py"]) == 2
    assert main(["why", "xyzzy"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
