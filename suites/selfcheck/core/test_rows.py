"""Tables of clauses: each row is a clause with its own test, text, script and example."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.clause.clause import CLAUSES, BadClause
from fixtures.clause.rows import Row, each
from fixtures.judge.expected_observed import ExpectedObserved
from fixtures.judge.subject import Subject
from fixtures.show.standalone import cut_out
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.core.two_rows import ALIKE, FOUR, THREE

import_suites()
ROW = CLAUSES["ordering.registration.full_backward"]


def test_the_text_of_a_row_is_its_own() -> None:
    found = ROW.record("")
    assert found["code"].count("Row(") == 1
    assert f'"{ROW.id}",' in found["code"]
    assert "def of_a_module" in found["code"]
    others = CLAUSES["ordering.registration.forward"].record("")
    assert found["line"] != others["line"]
    assert found["digest"] != others["digest"]


def test_a_row_is_a_test_of_its_own() -> None:
    subject = Subject("eager", "cpu", "2.15.0", None, FOUR.readings[0], None)  # type: ignore[arg-type]
    assert (FOUR.arguments, FOUR.draws, FOUR.plays) == ({"n"}, True, False)
    FOUR.function(subject=subject)
    FOUR.test()(subject=subject, n=4)
    with pytest.raises(AssertionError):
        FOUR.test()(subject=subject, n=3)
    assert THREE.digest() != FOUR.digest()


def test_rows_that_share_the_last_part_of_their_ids_are_tests_of_two_names() -> None:
    assert [one.function.__name__ for one in ALIKE] == ["test_one_alike", "test_two_alike"]


def test_the_script_of_a_row_has_its_values(tmp_path: Path) -> None:
    sides = ExpectedObserved(["4"], ["5"], "==")
    for number, status in ((4, 0), (5, 1)):
        path = tmp_path / f"{number}.py"
        path.write_text(cut_out(FOUR, FOUR.readings[0], {"n": number}, sides, "AssertionError", "2.15.0"), "utf-8")
        assert "row=SimpleNamespace(by=2)" in path.read_text("utf-8")
        assert "import given" not in path.read_text("utf-8"), "strategies are left out"
        assert subprocess.run([sys.executable, path], capture_output=True).returncode == status


def test_a_row_is_written_in_the_decorator_and_once() -> None:
    rows = [Row("self.table.elsewhere", "It is.", "measured")]

    def one(subject: Subject, *, row: Any) -> None:
        raise NotImplementedError

    with pytest.raises(BadClause, match="write its row in the decorator"):
        each(*rows)(one)

    with pytest.raises(BadClause, match="its file has a test_the_text_of_a_row_is_its_own already"):

        @each(Row("self.table.the_text_of_a_row_is_its_own", "It is.", "measured"))
        def two(subject: Subject, *, row: Any) -> None:
            raise NotImplementedError
