"""Every clause has a program that needs torch only, and on the torch that is installed each does as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.bundle import Bundle, Unfit
from fixtures.clause import CLAUSES
from fixtures.example import Known, inside, literal, span
from fixtures.example import program as write
from reports.programs import Lines, program
from suites import examples
from suites.examples import FOLDER, import_suites, known_of, path_of, recorded, run_all, wrong

import_suites()
ALL = [clause for _, clause in sorted(CLAUSES.items())]
A_PLAN, A_TEST = "gradient.errors.own_type", "backward.twice.replacement"


def test_every_clause_has_its_program_and_no_other_is_there() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(CLAUSES)


def test_the_programs_are_what_would_be_written_now() -> None:
    cells = recorded()
    now = {clause.id: write(clause, known_of(clause, cells)) for clause in ALL}
    old = [name for name, text in now.items() if path_of(name).read_text(encoding="utf-8") != text]
    assert old == [], "write them anew: python -m suites.examples --write"


def test_each_says_what_is_recorded_of_this_torch(capsys) -> None:
    assert run_all(ALL, recorded()) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", [A_PLAN, A_TEST])
def test_a_program_runs_alone(name: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, path_of(name)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("torch ")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (A_PLAN, "('h0', 2)", "('h0', 3)"),
        (A_PLAN, '"torch 1.4, 1.7 to 2.15"', '"torch 1.4"'),
        (A_TEST, "product**subject.value", "2 * product**subject.value"),
        (A_TEST, "'once (", "'ever ("),
        (A_TEST, 'hasattr(torch.nn.Module, "', 'hasattr(torch.nn.Module, "no_'),
        (A_TEST, "(grad,) =", "grad = torch.no_such_name"),
    ],
)
def test_a_program_that_says_otherwise_is_found(name: str, old: str, new: str, tmp_path, monkeypatch, capsys) -> None:
    text = path_of(name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / f"{name}.py").write_text(text.replace(old, new), encoding="utf-8")
    monkeypatch.setattr(examples, "FOLDER", tmp_path)
    assert run_all([CLAUSES[name]], recorded()) == 1
    assert f"{name}: otherwise" in capsys.readouterr().out


def test_a_program_ends_in_one_line_where_torch_lacks_what_it_needs(tmp_path: Path) -> None:
    text = path_of(A_TEST).read_text(encoding="utf-8")
    path = tmp_path / "older.py"
    path.write_text(
        text.replace("import torch\n", "import torch\ndel torch.nn.Module.register_full_backward_hook\n", 1)
    )
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"torch \S+ has no torch\.nn\.Module\.register_full_backward_hook\n", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [(["no.such"], "no clause begins with 'no.such'"), (["--write", "no.such"], "no clause begins with 'no.such'")],
)
def test_an_unknown_clause_is_told_in_one_line(arguments, fault, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["examples", *arguments])
    assert examples.main() == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"suites.examples: {fault}")
    assert told.err.count("\n") == 1


def test_a_torch_that_has_what_its_release_lacked_is_held_to_nothing() -> None:
    """A build of one's own may have more than the release of its number."""
    assert wrong(CLAUSES[A_TEST], Known({"2.15": "absent"}), "2.15") is None


def test_a_clause_that_is_not_recorded_has_no_program_yet() -> None:
    with pytest.raises(Unfit, match="no release is recorded to conform: sweep and record first"):
        write(CLAUSES[A_TEST], Known({"2.15": "absent"}))


def test_a_program_is_shown_only_beside_its_own_sentence(tmp_path: Path) -> None:
    assert program(A_TEST, CLAUSES[A_TEST].says)
    assert not program(A_TEST, "Another sentence.")
    assert not program(A_TEST, CLAUSES[A_TEST].says, tmp_path)


def test_versions_are_told_in_ranges() -> None:
    known = ["1.4", "1.5", "1.6", "2.0", "2.1"]
    assert span(["1.4", "1.5", "2.0"], known) == "torch 1.4 to 1.5, 2.0"
    assert span(known, known) == "torch 1.4 to 2.1"
    for told in (span(["1.4", "1.5", "2.0"], known), span(["1.5"], known) + ", a declared deviation"):
        assert inside("1.5", told.partition("torch ")[2], known)
        assert not inside("2.1", told.partition("torch ")[2], known)
        assert not inside("2.2", told.partition("torch ")[2], [*known, "2.2"])


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
