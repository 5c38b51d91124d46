"""A run in anybody's environment ends with 1 when a verdict is not the recorded one; --strict allows no deviation."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from fixtures.clause.clause import CLAUSES
from fixtures.judge.verdict import JudgedCell
from fixtures.model.contract import installed_version
from fixtures.run.gate import Gate
from reports.data.cell import Cell
from reports.data.verdicts import Recorded, write_recorded
from suites.selfcheck.all_clauses import import_suites

ROOT = Path(__file__).resolve().parents[3]
VERSION = installed_version()
import_suites()
CLAUSE = CLAUSES["retain.keep.once_is_enough"]


def room(path, digest=None, entry=None):
    """Write a verdict file of the installed torch with one cell."""
    found = {"verdict": "conforms", "reading": 0, "digest": digest or CLAUSE.record(str(path))["digest"]}
    cells = {CLAUSE.id: {"eager": Cell.of_record({**found, **(entry or {})})}}
    write_recorded([Recorded(VERSION, "0.1.0", "3.11", "Linux-x86_64", "cpu", cells)], path / "reports" / "verdicts")
    return str(path)


SAME = JudgedCell(CLAUSE.id, "eager", "conforms", "always")


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (SAME, ""),
        (replace(SAME, mode="other"), ""),
        (replace(SAME, verdict="absent", reading=None), "conforms is recorded of torch"),
        (replace(SAME, reading="other"), "and this torch gives conforms (other)"),
        (replace(SAME, verdict="deviates", declared=True), "and this torch gives deviates;"),
    ],
)
def test_a_verdict_that_is_not_the_recorded_one_is_a_change(tmp_path, cell, said):
    reported = Gate(room(tmp_path), VERSION, strict=False).complaint(CLAUSE, cell)
    assert bool(reported) == bool(said)
    assert said in reported


def test_another_text_or_release_is_no_change(tmp_path):
    absent = replace(SAME, verdict="absent", reading=None)
    assert Gate(room(tmp_path, digest="0" * 12), VERSION, strict=False).complaint(CLAUSE, absent) == ""
    assert Gate(str(tmp_path), "9.9.0", strict=False).complaint(CLAUSE, absent) == ""


def test_a_reading_is_known_by_its_place(tmp_path):
    """It may get another name: the record says the first one."""
    root, one = room(tmp_path), CLAUSE.readings[0]
    renamed = replace(CLAUSE, readings=(replace(one, name="as it is called now"),))
    assert Gate(root, VERSION, strict=False).complaint(renamed, replace(SAME, reading="as it is called now")) == ""
    assert "is recorded of torch" in Gate(root, VERSION, strict=False).complaint(renamed, SAME)


@pytest.mark.parametrize(("was", "now"), [("deviates", "conforms"), ("conforms", "deviates")])
@pytest.mark.parametrize(
    ("mode", "declared", "said"), [("copy", True, False), ("eager", True, True), ("copy", False, True)]
)
def test_in_a_mode_it_depends_on_the_plans_whether_a_rule_is_met(tmp_path, was, now, mode, declared, said):
    folder, digest = tmp_path / "reports" / "verdicts", CLAUSE.record(str(tmp_path))["digest"]
    cells = {CLAUSE.id: {mode: Cell.of_record({"verdict": was, "reading": 0, "digest": digest})}}
    write_recorded([Recorded(VERSION, "0.1.0", "3.11", "Linux-x86_64", "cpu", cells)], folder)
    cell = replace(SAME, mode=mode, verdict=now, declared=declared)
    said = said and (mode == "eager" or now == "deviates")  # what conforms was not declared
    assert bool(Gate(str(tmp_path), VERSION, strict=False).complaint(CLAUSE, cell)) == said


@pytest.mark.parametrize("verdict", ["deviates", "crashed", "hung"])
def test_strict_allows_nothing_that_was_declared(tmp_path, verdict):
    root = room(tmp_path, entry={"verdict": verdict})
    cell = replace(SAME, verdict=verdict, declared=True, note="Known.")
    assert Gate(root, VERSION, strict=False).complaint(CLAUSE, cell) == ""
    assert Gate(root, VERSION, strict=True).complaint(CLAUSE, cell).endswith("--strict allows no deviation: Known.")


def run(folder, *options):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--quick", "--mode=eager", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_exit_status_of_pytest_says_so(tmp_path):
    for name in ("suites", "fixtures"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("selfcheck", "__pycache__"))
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    file = CLAUSE.record(str(ROOT))["file"]
    chosen = (file, "--clauses", CLAUSE.id)
    done = run(tmp_path, *chosen)
    assert (done.returncode, "1 conforms" in done.stdout) == (0, True), done.stdout
    room(tmp_path, digest=CLAUSE.record(str(ROOT))["digest"], entry={"verdict": "absent", "reading": None})
    done = run(tmp_path, *chosen, "--strict", "--junitxml=junit.xml")
    assert done.returncode == 1
    (case,) = ET.parse(tmp_path / "junit.xml").iter("testcase")
    assert "the verdict has changed" in case[0].attrib["message"]
    assert f"absent is recorded of torch {VERSION}, and this torch gives conforms" in done.stdout
    assert f"[{CLAUSE.id}-eager]" in case.attrib["name"]
    assert f"start here: {CLAUSE.id} [eager]" in done.stdout
    (tmp_path / "reports" / "verdicts" / "retain.json").write_text("{", encoding="utf-8")
    done = run(tmp_path, *chosen)
    assert (done.returncode, done.stdout) == (4, "")
    (line,) = [line for line in done.stderr.splitlines() if line]
    assert re.search(r"^ERROR: .*retain\.json: cannot be read \(JSONDecodeError: .*\); restore it with git", line)
