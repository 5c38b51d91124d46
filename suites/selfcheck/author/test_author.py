"""The command of authors: a good clause lacks nothing, and what a bad one lacks is named with what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from fixtures.clause.clause import CLAUSES, BadClause, Clause, one_reading
from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from reports.data.cell import Cell
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.author import __main__ as command
from suites.selfcheck.author import measured, steps
from suites.selfcheck.author.sources import fault_of_source

import_suites()
GOOD, WITHOUT_PLANS = "output.replacement.none_keeps", "backward.objects.bare_tensor"


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made of a clause goes into a folder of the test."""
    monkeypatch.setattr(measured, "folder", lambda clause: tmp_path / clause.id)


def as_measured(monkeypatch: pytest.MonkeyPatch, cell: Cell) -> None:
    """Have torch do this on the release that is here, without running it."""
    monkeypatch.setattr(measured, "measure", lambda clause, minor, python: cell)
    monkeypatch.setattr(measured, "environments", dict)


def verdicts(said: str) -> dict[str, str]:
    """The verdict of each step."""
    rows = [line.split() for line in said.splitlines() if line.startswith(("ok ", "missing ", "read "))]
    return {name: verdict for verdict, name, *_ in rows}


def test_a_good_clause_lacks_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    as_measured(monkeypatch, Cell("conforms", "always"))
    assert command.main([GOOD]) == 0
    said = capsys.readouterr().out
    found = verdicts(said)
    assert list(found) == [*steps.Author(CLAUSES[GOOD]).steps()]
    assert {name for name, verdict in found.items() if verdict == "read"} == {"counterexamples", "attack"}
    assert "missing" not in found.values()
    assert said.endswith(f"{GOOD}: nothing is missing\n")


def test_one_without_plans_has_a_value_to_refute() -> None:
    one = CLAUSES[WITHOUT_PLANS]
    assert steps.Author(one).assertion().missing == []
    alone = replace(one, readings=one.readings[:1])
    assert "what the test must refute" in steps.Author(alone).assertion().missing[0]


def toy(test: Callable[[Subject, Plan], None], says: str = "A forward hook is called once.") -> Clause:
    drawing = given(plan=plans(kinds=("forward",), least=1))(test)
    return replace(CLAUSES[GOOD], says=says, readings=one_reading(says, None, {}, ""), function=drawing, asked=())


def asserts_nothing(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


def demands_nothing(subject: Subject, plan: Plan) -> None:
    """Not even the trace of the model."""


def stumbles(subject: Subject, plan: Plan) -> None:
    raise TypeError("a mistake")


def test_what_a_clause_lacks_is_named_and_the_next_step_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(CLAUSES, GOOD, toy(asserts_nothing))
    deviates = Cell("deviates", "always", evidence={"plan": "", "expected": ["a", "b"], "observed": ["a", "c"]})
    as_measured(monkeypatch, deviates)
    assert command.main([GOOD]) == 1
    said = capsys.readouterr().out
    lacking = {name for name, verdict in verdicts(said).items() if verdict == "missing"}
    assert lacking == {"mark", "assertion", "torch", "example", "record"}
    for told in ("asked= is missing", "it accepts traces that are changed in", "demanded: b, torch: c", "tox -e sweep"):
        assert told in said
    assert said.endswith(f"{GOOD}: missing in mark, assertion, torch, example, record\n")


def test_one_that_cannot_fail_has_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CLAUSES, GOOD, toy(demands_nothing))
    monkeypatch.setattr(steps, "PATIENCE", 0.0)
    assert "it cannot fail" in steps.Author(CLAUSES[GOOD]).mutant().missing[0]


def test_what_a_test_raises_ends_its_step_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    as_measured(monkeypatch, Cell("unseen", note="broken"))
    assert steps.report(toy(stumbles)) == 1
    assert verdicts(capsys.readouterr().out)["attack"] == "read"


def test_it_is_measured_by_a_session_of_its_own() -> None:
    cell = measured.measure(CLAUSES[GOOD], measured.minor_here(), sys.executable)
    assert (measured.what(cell), measured.fault(cell)) == ("conforms (always)", "")


def test_the_oldest_the_newest_and_the_torch_here_are_asked(tmp_path: Path) -> None:
    for name in ("torch1.4", "torch1.5", "torch2.15", "selfcheck"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python").touch()
    found = measured.environments((tmp_path,))
    assert list(found) == ["1.4", "1.5", "2.15"]
    assert list(measured.chosen(found)) == list(dict.fromkeys(["1.4", "2.15", measured.minor_here()]))
    assert measured.chosen({}) == {measured.minor_here(): sys.executable}


def test_what_cannot_be_asked_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([GOOD[:-1]]) == 2
    said = capsys.readouterr()
    assert said.err == f"{command.PROG}: there is no clause {GOOD[:-1]!r}; did you mean {GOOD}?\n"
    assert said.out == ""


def test_a_broken_rule_is_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise BadClause("a.b.c: says= ends with a full stop")

    monkeypatch.setattr("suites.examples.import_suites", broken)
    assert command.main([GOOD]) == 1
    assert capsys.readouterr().out.endswith("a.b.c: says= ends with a full stop\n")


def test_another_python_is_told_which_one_to_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "reports.data.names", None)
    assert command.main([GOOD]) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), "use the Python of `tox -e selfcheck`" in said) == (1, True)


def test_a_source_that_is_not_there_is_named() -> None:
    assert fault_of_source("docs: torch.nn.Module.register_forward_hook") == ""
    assert fault_of_source("docs: torch.nn.Module.no_hook").endswith("has no torch.nn.Module.no_hook")
    assert fault_of_source('note: nowhere "some quoted words"').startswith("look it up")
