"""My build and `check`: both tell the same cells of a run file that would change what is recorded."""

from __future__ import annotations

import copy
import json

import pytest

from reports.__main__ import main
from suites.selfcheck import synthetic
from suites.selfcheck.test_page_build import choose, text_of
from suites.selfcheck.test_page_entrances import answered

TORCH = "2.15.0"


def cells_of(lines, verdict):
    return [line for line in lines if line["type"] == "cell" and line["verdict"] == verdict]


def other_trace(lines):
    cell, second = cells_of(lines, "deviates")[:2]
    cell["evidence"]["observed"][2] = "02 forward a (3,)"
    second["evidence"]["expected"].append("06 forward a (12,)")


def other_words(lines):
    """The words of a failure may differ, its trace may not."""
    for cell in cells_of(lines, "deviates"):
        cell["evidence"].update(message="seen elsewhere", reproducer="")


def undeclared(lines):
    cells_of(lines, "deviates")[0].update(declared=False)


def other_verdicts(lines):
    first, second, third = cells_of(lines, "conforms")[:3]
    first.update(verdict="hung", reading=None, refuted=[])
    second.update(verdict="deviates", refuted=[], declared=True, evidence=synthetic.evidence(3))
    third.update(verdict="absent", reading=None, refuted=[])
    cells_of(lines, "deviates")[-1].update(verdict="conforms", declared=False, evidence=None, holds=[])


def asked_for_some(lines):
    """What nobody asked for is not missing."""
    fewer_clauses(lines)
    lines[0]["whole"] = False


def other_plans(lines):
    """Another profile has other plans: its traces say nothing."""
    other_trace(lines)
    lines[0]["profile"] = "search"


def fewer_clauses(lines):
    gone = {cell["clause"] for cell in lines if cell["type"] == "cell"}
    gone = set(sorted(gone)[:7])
    lines[:] = [line for line in lines if line.get("clause") not in gone]
    lines[0]["clauses"] = {name: clause for name, clause in lines[0]["clauses"].items() if name not in gone}
    lines[0]["nodes"] = {node: pair for node, pair in lines[0]["nodes"].items() if pair[0] not in gone}


def other_texts(lines):
    first, second = (cell["clause"] for cell in cells_of(lines, "conforms")[:2])
    for name in (first, second):
        clause = lines[0]["clauses"][name]
        clause["code"] += "\n    assert trace"
        clause["digest"] = synthetic.digest(clause)
    cells_of(lines, "conforms")[1].update(verdict="crashed", reading=None, refuted=[])


def a_new_clause(lines):
    name = "ordering.forward.new"
    lines[0]["clauses"][name] = copy.deepcopy(next(iter(lines[0]["clauses"].values())))
    lines.insert(-1, {**cells_of(lines, "conforms")[0], "clause": name, "reading": None, "verdict": "absent"})


def a_new_mode(lines):
    lines[0]["modes"] = ["eager", "compiled"]
    lines.insert(-1, {**cells_of(lines, "conforms")[0], "mode": "compiled"})


def all_at_once(lines):
    for change in (other_trace, other_verdicts, other_texts, a_new_clause, fewer_clauses):
        change(lines)


CHANGES = [
    other_trace, other_words, undeclared, other_verdicts, fewer_clauses, other_texts, a_new_clause, a_new_mode,
    all_at_once, asked_for_some, other_plans,
]  # fmt: skip


@pytest.fixture
def checked(built, tmp_path, capsys):
    """Give what check tells of lines."""

    def check(lines):
        run = str(synthetic.write_lines(tmp_path / "run.jsonl", lines))
        capsys.readouterr()
        status = main(["check", run, "--format", "json", "--verdicts", str(built.path.parent / "verdicts")])
        changes = json.loads(capsys.readouterr().out)["changes"]
        assert status == bool(changes)
        return changes

    return check


@pytest.fixture
def lines(built):
    return copy.deepcopy(synthetic.run_lines(built.table, TORCH, whole=True))


def finished(lines):
    """Return the lines with the footer that fits them."""
    return [*lines[:-1], synthetic.footer([line for line in lines if line["type"] == "cell"])]


def test_the_page_says_of_the_cells_what_check_says(reader, lines, checked):
    page = reader.open("#build").page
    for change in CHANGES:
        changed = copy.deepcopy(lines)
        change(changed)
        changed = finished(changed)
        found = checked(changed)
        assert bool(found) == (change not in (other_words, asked_for_some, other_plans))
        choose(page, text_of(changed))
        shown = [name for names in answered(page, "build").values() for name in names]
        assert sorted(shown) == sorted(one["clause"] for one in found), change
        cells = "cell is" if len(found) == 1 else "cells are"
        assert f"{len(found)} {cells} not as recorded. " in page.inner_text("#build-found .terminal")


def test_a_declared_deviation_with_another_trace_shows_both(reader, lines, checked):
    other_trace(lines)
    answer = checked(lines)
    assert {one["told"].rpartition(", ")[2] for one in answer} == {"but with another trace than recorded"}
    page = reader.open("#build").page
    choose(page, text_of(lines))
    found = answered(page, "build")
    assert list(found) == ["Declared deviations with another trace than recorded"]
    assert ": 0 of 80 cells differ." in page.inner_text("#build-said")
    summaries = page.locator("#build-found .found > li > details > summary")
    assert summaries.count() == 4
    for summary in summaries.all()[:2]:
        summary.click()
    page.wait_for_function("() => document.querySelectorAll('#build-found .trace').length === 2")
    traces = page.locator("#build-found .trace").all_inner_texts()
    assert ["02 forward a (3,)" in trace for trace in traces] == [False, True]


def test_what_check_would_not_take_is_not_called_checked(reader, lines):
    page = reader.open("#build").page
    choose(page, text_of([{**lines[0], "torch": "2.16.0a0"}, *lines[1:]]))
    assert "of 80 cells differ" in page.inner_text("#build-said")
    assert page.locator("#build-found .terminal").count() == 0
    choose(page, text_of(lines))
    assert "0 cells are not as recorded" in page.inner_text("#build-found .terminal")
    page.select_option("#build-with", "2.14")
    assert page.locator("#build-found .terminal").count() == 0
