"""What is forgiven is checked: a deviation names a clause, a mode and a version that exist, and a verdict needed it."""

import json
import pathlib

import pytest

from fixtures.judge.clause import CLAUSES, Deviation
from fixtures.model.contract import applies
from fixtures.modes import MODES
from suites.deviations import DEVIATIONS
from suites.selfcheck.everything import import_suites

import_suites()
VERDICTS = pathlib.Path(__file__).resolve().parents[2] / "reports" / "verdicts"
MEASURED = [json.loads(path.read_text("utf-8")) for path in sorted(VERDICTS.glob("[0-9]*.json"))]


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda one: f"{one.clause} {one.torch}")
class TestDeviation:
    def test_it_names_a_clause_and_a_mode(self, deviation: Deviation) -> None:
        assert deviation.clause in CLAUSES
        assert deviation.mode in MODES

    def test_it_says_what_torch_does_and_why(self, deviation: Deviation) -> None:
        assert deviation.says.endswith(".")
        assert deviation.reason
        assert deviation.ref

    def test_a_committed_verdict_needed_it(self, deviation: Deviation) -> None:
        cells = [
            run["cells"].get(deviation.clause, {}).get(deviation.mode, {})
            for run in MEASURED
            if applies(deviation.torch, run["torch"])
        ]
        assert any(cell.get("declared") for cell in cells), (
            "no recorded version deviates so: remove it, or record again"
        )
