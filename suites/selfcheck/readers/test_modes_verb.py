"""The verb `modes`: each hook API in each mode, counted by hand on small verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fixtures.judge.unplayed import NEEDS, NO_PLAN
from reports.__main__ import main
from reports.data.strict import validate
from suites.selfcheck import synthetic, synthetic_cells

KEPT = ("input.a.one", "input.a.two", "input.a.three")
TABLE = {
    name: synthetic_cells.clause(name, about=["register_forward_hook"], readings=("always",))
    for name in (*KEPT, "modes.compile.late")
}
TABLE["retain.a.b"] = synthetic_cells.clause("retain.a.b", about=["retain_grad"], readings=("always",))
INHERITED = {"verdict": "deviates", "reading": "always", "declared": True, "deviation": "as in eager", "note": "So."}
DEVIATES = {"verdict": "deviates", "reading": "always", "declared": True, "deviation": "rule again", "note": "Twice."}


def cell(name: str, **more: Any) -> dict[str, Any]:
    return {"verdict": "conforms", "reading": "always", **more, "digest": TABLE[name]["digest"]}


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    cells: dict[str, Any] = {name: {"eager": cell(name)} for name in TABLE}
    for name, second, third in zip(KEPT, ({}, DEVIATES, DEVIATES), ({}, {}, INHERITED), strict=True):
        cells[name].update(checkpoint=cell(name, **second), parallel=cell(name, **third))
    cells["retain.a.b"]["checkpoint"] = cell("retain.a.b", verdict="refused", reading=None, note="not this")
    return Path(synthetic.write_cells(tmp_path / "verdicts", TABLE, {"2.15.0": cells}))


def asked(verdicts: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["modes", *words, "--verdicts", str(verdicts)]) == 0
    return capsys.readouterr().out


def test_each_cell_is_counted(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(asked(verdicts, capsys, "--format", "json"))
    validate(found, "answers.schema.json#/$defs/modes", verdicts, "")
    assert (found["torch"], found["modes"]) == ("2.15", ["checkpoint", "parallel", "modes.compile"])
    words = {(one["api"], one["mode"]): (one["answer"], one["clauses"], one["otherwise"]) for one in found["cells"]}
    assert words == {
        ("register_forward_hook", "checkpoint"): ("otherwise", 3, 2),
        ("register_forward_hook", "parallel"): ("as in eager", 3, 0),
        ("register_forward_hook", "modes.compile"): ("stated", 1, 0),
        ("retain_grad", "checkpoint"): ("refused", 1, 0),
        ("retain_grad", "parallel"): ("not measured", 0, 0),
        ("retain_grad", "modes.compile"): ("not measured", 0, 0),
    }
    rules = {(one["api"], one["mode"]): one["rules"] for one in found["cells"] if one["rules"]}
    again = {"name": "again", "says": "Twice.", "clauses": 2, "example": "input.a.three"}
    assert rules == {("register_forward_hook", "checkpoint"): [again]}
    assert [one["stated"] for one in found["cells"] if one["stated"]] == [["modes.compile.late"]]


def test_the_other_forms_say_it_in_words(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = asked(verdicts, capsys, "register_forward_hook", "--on", "2.15")
    assert "  checkpoint     otherwise in 2 of 3 clauses\n" in text
    assert "    Twice. (input.a.three)\n" in text
    assert "again" not in text
    assert "retain_grad" not in text
    lines = asked(verdicts, capsys, "--format", "markdown").splitlines()
    assert lines[0] == "| torch 2.15 | checkpoint | parallel | modes.compile |"
    assert lines[-1] == "| `retain_grad` | refused (1 clause) | not measured | not measured |"


def test_a_clause_without_a_plan_in_a_mode_is_not_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells: dict[str, Any] = {name: {"eager": cell(name)} for name in TABLE}
    for name, note in zip(KEPT, (NO_PLAN, f"{NEEDS} a compiler", "not with such hooks"), strict=True):
        cells[name]["parallel"] = cell(name, verdict="refused", reading=None, note=note)
    kept = Path(synthetic.write_cells(tmp_path / "verdicts", TABLE, {"2.15.0": cells}))
    words = ["diff", "2.15", "2.15", "--mode", "eager", "--to-mode", "parallel", "--verdicts", str(kept)]
    assert main([*words, "--format", "json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert [(one["clause"], one["kind"]) for one in found["changes"]] == [("input.a.three", "error")]


def test_what_is_not_known_is_refused_in_a_line(verdicts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, says in ((["register_forward"], "no hook API"), (["--on", "3.0"], "no torch version")):
        assert main(["modes", *words, "--verdicts", str(verdicts)]) == 2
        err = capsys.readouterr().err
        assert says in err
        assert err.count("\n") == 1


def test_find_and_why_answer_for_a_mode(capsys: pytest.CaptureFixture[str]) -> None:
    """A handle that was made before a copy does not remove the hook from the copy: one clause, two answers."""
    statuses = {}
    for mode in ("eager", "copy"):
        words = ["find", "handle.remove() hook is not called any more", "--mode", mode, "--format", "json"]
        assert main([*words, "--most", "20"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["mode"] == mode
        statuses[mode] = {one["clause"]: one["status"] for one in found["clauses"]}
        assert main(["why", "not", "called", "--mode", mode, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["mode"] == mode
    assert statuses["eager"]["handles.removal.stops"] == "holds"
    assert statuses["copy"]["handles.removal.stops"] != "holds"
    for verb in ("find", "why"):
        assert main([verb, "hook", "--mode", "copied"]) == 2
        assert "there is no mode 'copied'" in capsys.readouterr().err
