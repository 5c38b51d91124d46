"""What the whole grammar draws: each kind of hook meets each feature in some of a few hundred plans."""

import functools

import pytest

from suites import coverage
from suites.coverage import APART, BAR, Drawn, Table, draw, reason, tables

#: Of each clause; with 10,000 the command says the same more exactly.
PLANS = 1000
#: How many of a thousand plans may be set aside.
ASIDE = 100


@functools.cache
def drawn() -> dict[str, Drawn]:
    return draw(PLANS)


def test_no_pair_is_rare() -> None:
    assert [each for table in tables(drawn()) for each in table.rare()] == []


def test_few_plans_are_set_aside_and_each_reason_is_met() -> None:
    for name, each in drawn().items():
        assert 1000 * (each.ends.total() - each.ends["played"]) <= ASIDE * each.ends.total(), name
    assert {why for each in drawn().values() for why in each.ends} == {"played", "TooLarge", "Inexact", "Shared"}


def test_each_reason_excuses_a_pair() -> None:
    rare = {pair for table in tables(drawn()) for pair, (rate, _) in table.rates.items() if rate < BAR}
    for kind, feature in APART:
        assert [pair for pair in rare if reason(*pair) == APART[kind, feature]], (kind, feature)


def test_a_rare_pair_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("layout", ["tensor"], ["strided"], {("tensor", "strided"): (BAR - 1, "a.b.c")})
    monkeypatch.setattr(coverage, "tables", lambda counts: [table])
    monkeypatch.setattr(coverage, "draw", lambda number, seed: {})
    monkeypatch.setattr("sys.argv", ["coverage"])
    assert coverage.main() == 1
    assert "too rare: tensor and strided: 99 of 10,000 plans of a.b.c" in capsys.readouterr().out
