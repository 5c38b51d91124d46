"""What readers are shown: sentences for users. What only checks the model is a cell of a run, and in no answer."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from reports.data.atlas import build
from reports.data.runfile import read_run
from reports.data.verdicts import Table, read_table
from suites.selfcheck import synthetic

TABLE = read_table().clauses
CHECKS = sorted(name for name, clause in TABLE.items() if clause.checks_model)


@pytest.mark.parametrize(
    "question",
    [
        ["rely"],
        ["rely", "--mode", "copy", "backward.asked."],
        ["diff", "1.4", "2.15"],
        ["diff", "2.15", "2.15", "--to-mode", "compiled"],
        ["find", "every plan of the grammar leaves the trace of the model", "--most", "2000"],
        ["explain", "backward.asked.weight"],
        ["modes"],
    ],
)
def test_no_answer_names_what_only_checks_the_model(question, capsys):
    main([*question, "--format", "json"])
    out = capsys.readouterr().out
    assert not [name for name in CHECKS if f'"{name}"' in out]
    assert any(f'"{name}"' in out for name in set(TABLE) - set(CHECKS))


def test_explain_says_what_a_check_of_the_model_is(capsys):
    assert main(["explain", CHECKS[0]]) == 2
    assert capsys.readouterr().err.startswith(f"reports: {CHECKS[0]} compares whole plans with the model")


def test_a_run_shows_a_check_of_the_model_where_it_fails(tmp_path, capsys):
    table = {name: {**one, "checks_model": True} for name, one in synthetic.clauses(3).items()}
    lines = synthetic.run_lines(table, "2.15.0")
    cells = [line for line in lines if line["type"] == "cell"]
    for cell in cells:
        first = table[cell["clause"]]["readings"][0]["name"]
        cell.update(verdict="conforms", reading=first, refuted=[], declared=False, evidence=None, holds=[])
    cells[0].update(verdict="crashed", reading=None)
    lines[-1]["counts"] = {"crashed": 1, "conforms": 2}
    path = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    (tmp_path / "table.json").write_text('{"suite": "0.1.0", "clauses": {}, "modes": {}}', "utf-8")
    run = read_run(path)
    assert list(build(Table("0.1.0", {}), [], [run]).clauses) == []
    assert list(build(Table("0.1.0", {}), [], [run], failing=True).clauses) == [cells[0]["clause"]]
    assert main(["badge", str(path), "--verdicts", str(tmp_path / "none"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["message"] == "1 not declared"
