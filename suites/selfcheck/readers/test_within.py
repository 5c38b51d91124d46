"""rely, diff and modes in a mode: what is so within what a sentence promises, and what lies outside."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from reports.__main__ import main
from reports.data.cell import Cell
from reports.data.strict import validate
from reports.data.verdicts import read_table
from reports.data.within import within
from suites.selfcheck import synthetic, synthetic_cells

NAMES = ("input.a.beside", "input.a.few", "input.a.found", "input.a.inside", "input.a.none", "input.a.part")
TABLE = {
    name: synthetic_cells.clause(name, about=["register_forward_hook", "register_hook"], readings=("always",))
    for name in NAMES
}
SAYS = {name: found["says"] for name, found in TABLE.items()}
RULES = [{"name": name, "says": f"{name}.", "torch": "", "ref": "measured"} for name in ("Twice", "Never")]
BY = {"verdict": "deviates", "reading": "always", "declared": True, "deviation": "rule Twice"}
#: What is measured of each in the mode, and what is kept of it.
KEPT: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "input.a.beside": (BY, [["2.0", {"outside": [["rule Twice", [["global hooks"], ["late hooks", "copies"]]]]}]]),
    "input.a.few": ({}, [["2.0", {"plans": 3}]]),
    "input.a.found": ({}, [["2.0", {}], ["2.15", {"by": "rule Never"}]]),
    "input.a.inside": (BY, [["2.0", {"by": "rule Twice"}]]),
    "input.a.none": (BY, []),
    "input.a.part": ({}, [["2.0", {"without": ["register_hook"]}]]),
}


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    cells = {
        name: {"eager": {"verdict": "conforms", "reading": "always", "digest": TABLE[name]["digest"]}} for name in NAMES
    }
    for name, (more, _) in KEPT.items():
        cells[name]["parallel"] = {**cells[name]["eager"], **more}
    folder = synthetic.write_cells(tmp_path / "verdicts", TABLE, {"2.14.0": cells, "2.15.0": cells})
    within = {name: [TABLE[name]["digest"], {"parallel": rows} if rows else {}] for name, (_, rows) in KEPT.items()}
    synthetic.write_table(folder, TABLE, {"parallel": {"rules": RULES, "exclusions": []}}, within)
    return Path(folder)


def rely(verdicts: Path, capsys: pytest.CaptureFixture[str], name: str, form: str = "json") -> tuple[int, Any]:
    status = main(["rely", name, "--mode", "parallel", "--verdicts", str(verdicts), "--format", form])
    said = capsys.readouterr().out
    return status, json.loads(said) if form == "json" else said


@pytest.mark.parametrize(
    ("name", "status", "exit_status"),
    [
        ("input.a.beside", "holds", 0),
        ("input.a.few", "unseen", 2),
        ("input.a.found", "changes", 1),
        ("input.a.inside", "nowhere", 1),
        ("input.a.none", "holds", 0),
        ("input.a.part", "holds", 0),
    ],
)
def test_it_is_asked_within_what_the_sentence_promises(
    verdicts: Path, capsys: pytest.CaptureFixture[str], name: str, status: str, exit_status: int
) -> None:
    found, answer = rely(verdicts, capsys, name)
    validate(answer, "answers.schema.json#/$defs/rely", verdicts, "")
    assert (answer["clauses"][0]["status"], found) == ("otherwise" if status == "nowhere" else status, exit_status)


def test_what_lies_outside_is_named(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "for global hooks or late hooks with copies: Twice."
    assert rely(verdicts, capsys, "input.a.beside")[1]["clauses"][0]["history"][0]["besides"] == [said]
    assert f"{SAYS['input.a.beside']}\n    {said}\n" in rely(verdicts, capsys, "input.a.beside", "text")[1]
    assert "    for register_hook: not measured\n" in rely(verdicts, capsys, "input.a.part", "text")[1]


def test_too_few_plans_are_counted(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "unseen: This mode plays 3 plans within what the sentence promises: too few to tell"
    assert said in rely(verdicts, capsys, "input.a.few", "text")[1]


def test_from_a_release_on_a_plan_inside_is_otherwise(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = rely(verdicts, capsys, "input.a.found", "text")[1]
    assert f"2.14: holds: {SAYS['input.a.found']}\n    since 2.15: deviates (other values or calls): Never." in said


def test_a_difference_is_one_inside(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", "2.15", "2.15", "--mode", "eager", "--to-mode", "parallel", "--verdicts", str(verdicts)]
    assert main([*words, "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    validate(answer, "answers.schema.json#/$defs/diff", verdicts, "")
    assert [one["clause"] for one in answer["changes"]] == ["input.a.found", "input.a.inside"]
    assert (answer["same"], answer["unseen"]) == (3, 1)
    assert answer["besides"] == {
        "for global hooks or late hooks with copies: Twice.": 1,
        "for register_hook: not measured": 1,
    }
    assert main([*words, "--clauses", "input.a.few"]) == 2


def test_modes_counts_what_is_inside(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["modes", "--verdicts", str(verdicts), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    validate(answer, "answers.schema.json#/$defs/modes", verdicts, "")
    found = {one["api"]: one for one in answer["cells"]}
    assert {api: (one["clauses"], one["otherwise"]) for api, one in found.items()} == {
        "register_forward_hook": (5, 2),
        "register_hook": (4, 2),
    }
    assert [one["name"] for one in found["register_hook"]["besides"]] == ["Twice"]


def test_eager_says_what_is_recorded(verdicts: Path) -> None:
    """A clause of which something is kept in modes deviates in eager as before."""
    clause = read_table(verdicts).clauses["input.a.none"]
    table = replace(read_table(verdicts), within={"input.a.none": (clause.digest, {})})
    cell = Cell("deviates", "always", declared=True, deviation="a bug", digest=clause.digest)
    assert within(cell, clause, "eager", Version("2.15"), table) == cell
    assert within(cell, clause, "parallel", Version("2.15"), table).verdict == "conforms"
