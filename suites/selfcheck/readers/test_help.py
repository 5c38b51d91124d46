"""The help of every verb says what it does, with which exit status it ends, and gives an example that parses."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from reports.__main__ import OF_MAINTAINERS, QUESTIONS, main, parser
from suites.selfcheck import synthetic, synthetic_cells

MINE = ("page", "record", "check", "merge", "diff", "explain", "rely", "affects", "badge", "atlas", "triage", "find",
        "why", "scope", "modes", "known", "upstream", "overhead", "sweep")  # fmt: skip
FORMS: dict[str, list[str]] = {
    "explain": ["a.b.c"], "rely": [], "diff": ["2.0", "2.15"], "affects": [], "check": [], "find": ["a.b.c"],
}  # fmt: skip
TABLE = {
    "a.b.c": synthetic_cells.clause("a.b.c", "def test_c(it):\n    it.register_hook(print)\n", readings=("old", "new"))
}
TABLE["a.b.c"]["matters_if"] = "tensor"
CELLS = {"a.b.c": [("conforms", "old"), ("conforms", "old"), ("conforms", "new"), ("conforms", "new")]}


def helped(verb, capsys):
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("verb", MINE)
def test_help_says_the_exit_status_and_an_example_that_parses(verb, capsys):
    text = helped(verb, capsys)
    assert re.search(r"exit status: 0 \w+", text)
    example = re.search(r"example: python -m reports (.*)", text)
    assert example
    parsed = parser(verb).parse_args(shlex.split(example[1]))
    assert isinstance(parsed, argparse.Namespace)
    assert parsed.verb == verb


def test_without_a_verb_it_prints_the_questions_of_the_readme_with_commands_that_parse(capsys):
    assert main([]) == 0
    out, readme = capsys.readouterr().out, Path(__file__).parents[3] / "README.md"
    headings = re.findall(r"^## (.*\?)$", readme.read_text("utf-8"), re.MULTILINE)
    assert list(QUESTIONS) == headings
    assert re.findall(r"^\S.*\?$", out, re.MULTILINE) == headings
    for command in re.findall(r"^  python -m reports (.*)$", out, re.MULTILINE):
        words = shlex.split(command)
        assert parser(words[0]).parse_args(words).verb == words[0]


def test_what_only_maintainers_run_is_listed_apart():
    top = parser(None)
    listed = re.findall(r"^    (\w+)  ", top.format_help(), re.MULTILINE)
    assert {*listed, *OF_MAINTAINERS} == {*MINE}
    assert not {*listed} & {*OF_MAINTAINERS}
    assert all(verb in (top.epilog or "") for verb in OF_MAINTAINERS)


@pytest.mark.parametrize("verb", FORMS)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_every_answer_has_three_forms(verb, form, tmp_path, capsys):
    verdicts = synthetic_cells.write(tmp_path / "verdicts", TABLE, CELLS)
    code = tmp_path / "code.py"
    code.write_text("x.register_hook(print)\n")
    lines = synthetic.run_lines(TABLE, "2.15.0")
    lines[2].update(reading="new", verdict="absent", refuted=[], holds=[], evidence=None, declared=False)
    lines[-1] = synthetic.footer([lines[2]])
    run = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    arguments = {"affects": [str(code), "--from", "2.0"], "check": [str(run)]}.get(verb) or FORMS[verb]
    assert main([verb, *arguments, "--format", form, "--verdicts", str(verdicts)]) in (0, 1)
    out, err = capsys.readouterr()
    assert (err, "a.b.c" in out) == ("", True)
    if form == "json":
        assert json.loads(out)["format"] == 3
    if form == "markdown":
        assert "|" in out
        assert "`a.b.c`" in out


@pytest.mark.parametrize("verb", ["page", "merge"])
def test_what_was_written_is_told_in_three_forms(verb, tmp_path, capsys):
    verdicts = synthetic_cells.write(tmp_path / "verdicts", TABLE, CELLS)
    runs = []
    for torch, verdict, reading in (("2.0.1", "conforms", "old"), ("2.15.0", "absent", None)):
        lines = synthetic.run_lines(TABLE, torch)
        lines[2].update(reading=reading, verdict=verdict, refuted=[], holds=[], evidence=None, declared=False)
        lines[-1] = synthetic.footer([lines[2]])
        runs.append(str(synthetic.write_lines(tmp_path / f"{torch}.jsonl", lines)))
    out = str(tmp_path / "out")
    said = {}
    for form in ("text", "json", "markdown"):
        assert main([verb, *runs, "--out", out, "--format", form, "--verdicts", str(verdicts)]) == 0
        said[form] = capsys.readouterr().out
    old, new = (torch + "+cpu" * (verb == "merge") for torch in ("2.0.1", "2.15.0"))  # a page is of the release
    assert said["text"] == f"torch {old}: 1 conforms\ntorch {new}: 1 absent\n{out}\n"
    assert json.loads(said["json"]) == {
        "format": 3,
        "out": out,
        "torches": [{"torch": old, "counts": {"conforms": 1}}, {"torch": new, "counts": {"absent": 1}}],
    }
    assert said["markdown"].startswith(
        f"| torch | conforms | absent |\n|---|---|---|\n| {old} | 1 | 0 |\n| {new} | 0 | 1 |\n\nWritten to "
    )


def test_check_says_in_each_form_that_nothing_changes(tmp_path, capsys):
    table = synthetic.clauses(3)
    verdicts = synthetic.write_verdicts(tmp_path / "verdicts", table, ("2.15.0",))
    run = synthetic.write_run(tmp_path / "run.jsonl", table, "2.15.0")
    said = {}
    for form in ("text", "json", "markdown"):
        assert main(["check", str(run), "--format", form, "--verdicts", str(verdicts)]) == 0
        said[form] = capsys.readouterr().out
    match = "your torch 2.15.0 does what is recorded of 2.15: 3 of 3 clauses"
    assert said["text"] == f"{match}\n"
    assert said["markdown"] == f"{match}\n\nNo verdict changes.\n"
    matches = [{"torch": "2.15.0", "release": "2.15", "says": match, "cells": {"eager": [3, 3]}}]
    answer = {"format": 3, "compared": 3, "recorded": 3, "searched": [], "matches": matches, "changes": []}
    assert json.loads(said["json"]) == answer
