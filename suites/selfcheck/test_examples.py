"""Every clause has a program that needs torch only, and on the torch that is installed each does as it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.bundle import Bundle, Unfit
from fixtures.clause import CLAUSES
from fixtures.example import literal, span
from reports.programs import Lines, program
from suites import examples
from suites.examples import FOLDER, import_suites, path_of, recorded, run, run_all, write

import_suites()
ALL = [clause for _, clause in sorted(CLAUSES.items())]
A_PLAN, A_TEST = "gradient.errors.own_type", "backward.twice.replacement"


def test_every_clause_has_its_program_and_no_other_is_there() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(CLAUSES)


def test_the_programs_are_what_would_be_written_now() -> None:
    verdicts = recorded()
    old = [clause.id for clause in ALL if path_of(clause.id).read_text(encoding="utf-8") != write(clause, verdicts)]
    assert old == [], "write them anew: python -m suites.examples --write"


def test_each_does_as_it_says(capsys) -> None:
    assert run_all(ALL, recorded()) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", [A_PLAN, A_TEST])
def test_a_program_runs_alone(name: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, path_of(name)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("torch ")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(A_PLAN, "('h0', 2)", "('h0', 3)"), (A_TEST, "product**subject.value", "2 * product**subject.value")],
)
def test_a_program_that_is_wrong_says_so(name: str, old: str, new: str, tmp_path: Path, monkeypatch) -> None:
    text = path_of(name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / f"{name}.py").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(examples, "FOLDER", tmp_path)
    said = run(CLAUSES[name])
    assert said is not None
    assert "no torch" in said or "none of these readings" in said


def test_a_program_that_raises_is_wrong_too(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / f"{A_TEST}.py").write_text("import torch\ntorch.no_such_name\n", encoding="utf-8")
    monkeypatch.setattr(examples, "FOLDER", tmp_path)
    assert run_all([CLAUSES[A_TEST]], {}) == 1
    assert "AttributeError" in capsys.readouterr().out


def test_a_program_is_shown_only_beside_its_own_sentence(tmp_path: Path) -> None:
    assert program(A_TEST, CLAUSES[A_TEST].says)
    assert not program(A_TEST, "Another sentence.")
    assert not program(A_TEST, CLAUSES[A_TEST].says, tmp_path)


def test_versions_are_told_in_ranges() -> None:
    known = ["1.4", "1.5", "1.6", "2.0", "2.1"]
    assert span(["1.4", "1.5", "2.0"], known) == "torch 1.4 to 1.5, 2.0"
    assert span(known, known) == "torch 1.4 to 2.1"


def test_lines_are_stored_once_and_read_back() -> None:
    lines = Lines()
    texts = ["a\nb\nc\n", "a\nb\nx\n", "x\na"]
    packed = [lines.packed(text) for text in texts]
    assert packed[0] == [[0, 4]]
    assert packed[1] == [[0, 2], [4, 1], [3, 1]]
    for text, each in zip(texts, packed, strict=True):
        assert "\n".join(line for first, count in each for line in lines.values[first : first + count]) == text


def test_what_has_no_source_is_refused() -> None:
    module = __name__
    assert literal({"a": [1, (2,), {3}], "b": ValueError}, Bundle(), module) == "{'a': [1, (2,), {3}], 'b': ValueError}"
    with pytest.raises(Unfit, match="a value of type object has no source"):
        literal(object(), Bundle(), module)
