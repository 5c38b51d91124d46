"""Somebody's own run on the page: next to the recorded release, with the figures of `check`; failures come first."""

from __future__ import annotations

import copy
import json

import pytest

from reports.__main__ import main
from suites.selfcheck import synthetic
from suites.selfcheck.page.pages import Built, Reader, watched

TORCH = "2.15.0"


def cells_of(lines, verdict):
    return [line for line in lines if line["type"] == "cell" and line["verdict"] == verdict]


def nothing(lines):
    pass


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


def fewer_clauses(lines):
    gone = set(sorted({cell["clause"] for cell in lines if cell["type"] == "cell"})[:7])
    lines[:] = [line for line in lines if line.get("clause") not in gone]
    lines[0]["clauses"] = {name: clause for name, clause in lines[0]["clauses"].items() if name not in gone}
    lines[0]["nodes"] = {node: pair for node, pair in lines[0]["nodes"].items() if pair[0] not in gone}


def asked_for_some(lines):
    """What nobody asked for is not missing."""
    fewer_clauses(lines)
    lines[0]["whole"] = False


def other_plans(lines):
    """Another profile has other plans: its traces say nothing."""
    other_trace(lines)
    lines[0]["profile"] = "search"


def a_new_mode(lines):
    lines[0]["modes"] = ["eager", "compiled"]
    lines.insert(-1, {**cells_of(lines, "conforms")[0], "mode": "compiled"})


def all_at_once(lines):
    for change in (other_trace, other_verdicts, fewer_clauses, a_new_mode):
        change(lines)


CHANGES = [
    nothing, other_trace, other_words, undeclared, other_verdicts, fewer_clauses, asked_for_some, other_plans,
    a_new_mode, all_at_once,
]  # fmt: skip


@pytest.fixture
def made(built, tmp_path, capsys):
    """Give the page with a run that was changed so, and what check says of the run."""

    def make(change):
        lines = copy.deepcopy(synthetic.run_lines(built.table, TORCH, whole=True))
        change(lines)
        lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
        run = str(synthetic.write_lines(tmp_path / "run.jsonl", lines))
        folder = ["--verdicts", str(built.path.parent / "verdicts")]
        main(["check", run, "--format", "json", *folder])
        answer = json.loads(capsys.readouterr().out)
        out = tmp_path / "index.html"
        assert main(["page", run, *folder, "--upstream", str(tmp_path / "upstream"), "--out", str(out)]) == 0
        return Built(out, built.table), answer

    return make


def listed(page):
    return page.locator("#view-build .found > li > code").all_inner_texts()


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_the_page_says_of_a_run_what_check_says(browser, made, change):
    one, answer = made(change)
    with watched(browser) as page:
        Reader(page, one.url).open("#build")
        assert listed(page) == [each["clause"] for each in answer["changes"]]
        assert bool(answer["changes"]) == (change not in (nothing, other_words, asked_for_some, other_plans))
        assert page.inner_text("#view-build .said >> nth=0") == f"{answer['matches'][0]['says'].capitalize()}."
        assert answer["changes"] == sorted(answer["changes"], key=lambda each: each["weight"] != "wrong")


def test_a_torch_that_does_as_recorded_is_said_to(browser, made):
    one, answer = made(nothing)
    says = "your torch 2.15.0 does what is recorded of 2.15: 80 of 80 clauses"
    assert [each["says"] for each in answer["matches"]] == [says]
    with watched(browser) as page:
        Reader(page, one.url).open()
        assert page.inner_text(".own >> nth=0").strip() == f"Y{says[1:]}."
        heads = page.locator("thead th[data-key]").all_inner_texts()
        assert [head.split() for head in heads[-2:]] == [["2.15"], ["2.15", "this", "run"]]


def test_a_torch_that_does_not_is_said_to_differ(made):
    _, answer = made(undeclared)
    assert answer["matches"][0]["says"] == (
        "your torch 2.15.0 differs from what is recorded of 2.15 in 1 of 80 clauses"
    )


@pytest.mark.parametrize("change", [undeclared, other_trace])
def test_a_link_opens_the_clause_with_what_this_run_showed_first(browser, made, change):
    one, answer = made(change)
    with watched(browser) as page:
        reader = Reader(page, one.url).open("#build")
        page.locator("#view-build .found a").first.click()
        assert reader.opened() == answer["changes"][0]["clause"]
        first = page.locator("#drawer h3").first
        assert first.inner_text() == "On your torch 2.15.0"
        shown = page.inner_text("#drawer-body")
        assert shown.index("observed on torch") < shown.index("Source")


def test_a_torch_that_is_not_recorded_is_said_not_to_be(browser, noted):
    with watched(browser) as page:
        Reader(page, noted.url).open("#build")
        said = page.inner_text("#view-build .said >> nth=0")
        assert said == "Your torch 2.16.0a0+git1a2b3c4 is not recorded; the nearest is 2.14."
