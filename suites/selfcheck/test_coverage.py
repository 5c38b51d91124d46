"""What the whole grammar draws: each kind of hook meets each feature in some of a few hundred plans."""

import pytest

from suites import coverage
from suites.coverage import APART, BAR, Table, reason, tables

#: Of each clause; with 10,000 the command says the same more exactly.
PLANS = 1000
TABLES: list[Table] = []


def drawn() -> list[Table]:
    if not TABLES:
        TABLES.extend(tables(PLANS))
    return TABLES


def test_no_pair_is_rare() -> None:
    assert [each for table in drawn() for each in table.rare()] == []


def test_each_reason_excuses_a_pair() -> None:
    rare = {pair for table in drawn() for pair, (rate, _) in table.rates.items() if rate < BAR}
    for kind, feature in APART:
        assert [pair for pair in rare if reason(*pair) == APART[kind, feature]], (kind, feature)


def test_a_rare_pair_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("layout", ["tensor"], ["strided"], {("tensor", "strided"): (BAR - 1, "a.b.c")})
    monkeypatch.setattr(coverage, "tables", lambda number, seed: [table])
    monkeypatch.setattr("sys.argv", ["coverage"])
    assert coverage.main() == 1
    assert "too rare: tensor and strided: 99 of 10,000 plans of a.b.c" in capsys.readouterr().out
