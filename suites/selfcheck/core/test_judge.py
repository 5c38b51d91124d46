"""The judge: what holds, what is refuted, what is declared, and what a failure tells."""

import dataclasses
import json
import pathlib
import subprocess
import sys
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.cause import Cause, Deviating
from fixtures.clause.clause import BadClause, Clause, Reading, by_release, clause
from fixtures.draw.plans import plans
from fixtures.judge import verdict
from fixtures.judge.subject import Subject
from fixtures.judge.verdict import Judged, JudgedCell
from fixtures.model.contract import contract_for
from fixtures.model.module import Model, expect
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale
from fixtures.play.player import Refused
from fixtures.run import isolate
from fixtures.show.evidence import reported

NEW, OLD = contract_for("2.15"), contract_for("1.4")
LAST = Reading("last", ">=2.0", "after all", {"retain_grad": "last"})
HOOK = Reading("hook", "<2.0", "in its turn", {"retain_grad": "hook"})
WITNESS = Plan(
    Leaf("m0", "scale", (1,)),
    (Input(1),),
    (Forward(), Retain("m0>0"), Hook("tensor", "m0>0", "h0", (Scale(2),)), Backward()),
)
BLIND = Plan(Leaf("m0", "scale", (1,)), (Input(1),), (Forward(), Backward()))
STRATEGY = plans(kinds=("tensor",), retain=True, contract=NEW)


@given(plan=STRATEGY)
def by_plan(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@given(plan=STRATEGY)
def with_sentence(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.calls(), "a hook was called"


def direct(subject: Subject) -> None:
    assert subject.value == 1


@given(first=st.integers(0, 3), second=st.integers(0, 3))
def drawn(subject: Subject, first: int, second: int) -> None:
    assert [first, second] == [subject.value, second]


def the_other_way_round(subject: Subject) -> None:
    assert subject.value == 2


def not_compared(subject: Subject) -> None:
    assert all(number < subject.value for number in (0, 9))


def in_error(subject: Subject) -> None:
    {}[subject.value]


def made(function: Any, readings: tuple[Reading, ...] = (LAST, HOOK), witness: Any = WITNESS) -> Clause:
    return Clause("a.b.c", "A sentence.", ("measured",), readings, (), witness, "", "", False, "", function)


def subject(contract: Any = NEW, version: str = "2.15.0", lib: Any = Model) -> Subject:
    return Subject("eager", "cpu", version, NEW, LAST, lambda plan: expect(plan, contract, lib))


def judge(clause: Clause, subject: Subject, missing: Any, causes: Any) -> Any:
    """The cell with its evidence, and the failure."""
    return reported(clause, subject.version, verdict.judge(clause, subject, missing, causes))


def test_the_reading_in_force_holds_and_the_other_is_refuted() -> None:
    cell, failure = judge(made(by_plan), subject(), [], [])
    assert failure is None
    assert (cell.verdict, cell.reading, cell.refuted) == ("conforms", "last", ["hook"])


def test_a_failure_names_the_reading_that_does_hold_and_brings_its_evidence() -> None:
    cell, failure = judge(made(by_plan), subject(contract=OLD), [], [])
    assert failure is not None
    assert (cell.verdict, cell.holds, cell.declared) == ("deviates", ["hook"], False)
    assert cell.evidence is not None
    assert cell.evidence["plan"].startswith("Plan(")
    assert cell.evidence["expected"] != cell.evidence["observed"]
    assert "register_hook" in cell.evidence["reproducer"]


def test_a_failing_sentence_shows_its_plan_too() -> None:
    cell, _ = judge(made(with_sentence, (Reading("always", "", ""),)), subject(), [], [])
    assert cell.evidence is not None
    assert "a hook was called" in cell.evidence["message"]
    assert "plan: Plan(" in cell.evidence["message"]


def test_a_witness_on_which_readings_agree_is_a_broken_clause() -> None:
    cell, failure = judge(made(by_plan, witness=BLIND), subject(), [], [])
    assert "it says the same there" in str(failure)
    assert cell.verdict == "unseen"


def test_a_missing_door_is_absent() -> None:
    cell, failure = judge(made(by_plan), subject(), ["torch.nothing"], [])
    assert failure is None
    assert (cell.verdict, cell.reading, cell.note) == ("absent", None, "not in this torch: torch.nothing")


def declared(**changes: Any) -> Cause:
    given = {"torch": ">=2.0", "says": "in its turn", "facts": {"retain_grad": "hook"}, **changes}
    return Cause("as before", reason="So.", ref="measured", effect="silent", **given)


def test_a_declared_deviation_is_shown_and_forgiven() -> None:
    cell, failure = judge(made(by_plan, (LAST,)), subject(contract=OLD), [], [declared()])
    assert failure is None
    assert (cell.verdict, cell.declared, cell.note) == ("deviates", True, "in its turn")
    assert cell.evidence is not None


def test_a_stale_deviation_fails() -> None:
    same = declared(facts={}, clauses=(Deviating("a.b.c", value=1),))
    cell, failure = judge(made(direct, (Reading("one", "", "", value=1),), None), subject(), [], [same])
    assert "stale" in str(failure)
    assert cell.verdict == "unseen"


def test_a_deviation_that_describes_torch_wrongly_fails() -> None:
    # Few plans tell "slot" from "hook": the witness must do it, whatever the search draws.
    between = Plan(
        Leaf("m0", "scale", (1,)),
        (Input(1),),
        (
            Forward(),
            Hook("tensor", "m0>0", "h0", (Scale(2),)),
            Retain("m0>0"),
            Hook("tensor", "m0>0", "h1", (Scale(3),)),
            Backward(),
        ),
    )
    wrong = declared(facts={"retain_grad": "slot"})
    cell, failure = judge(made(by_plan, (LAST,), between), subject(contract=OLD), [], [wrong])
    assert failure is not None
    assert (cell.verdict, cell.declared) == ("deviates", False)


@pytest.mark.parametrize("other", [{"torch": "<2.0"}, {"modes": ("compiled",)}])
def test_a_deviation_of_another_version_or_mode_forgives_nothing(other: Any) -> None:
    cell, failure = judge(made(by_plan, (LAST,)), subject(contract=OLD), [], [declared(**other)])
    assert failure is not None
    assert not cell.declared


def test_a_direct_clause_is_held_to_its_values() -> None:
    right, wrong = Reading("one", "", "", value=1), Reading("two", "never", "", value=2)
    cell, failure = judge(made(direct, (right, wrong)), subject(), [], [])
    assert failure is None
    assert cell.refuted == ["two"]


def failed(function: Any) -> Any:
    """What a failing test without plans leaves in its cell, as evidence and signs, with the source it is made of."""
    cell, failure = judge(made(function, (Reading("one", "", "", value=1),), None), subject(), [], [])
    assert failure is not None
    return cell


@pytest.mark.parametrize(
    ("function", "expected", "observed"),
    [
        (drawn, "[1, 0]", "[0, 0]"),
        (the_other_way_round, "1", "2"),
        (
            not_compared,
            "true: all(number < subject.value for number in (0, 9))",
            "false: all(number < subject.value for number in (0, 9))",
        ),
        (in_error, "no KeyError", "KeyError: 1"),
    ],
)
def test_a_direct_test_shows_what_was_expected_and_what_was_observed(
    function: Any, expected: str, observed: str
) -> None:
    evidence = failed(function).evidence
    assert (evidence["expected"], evidence["observed"][0]) == ([expected], observed)
    assert "observed (torch 2.15.0)" in evidence["message"]


@pytest.mark.parametrize("function", [drawn, in_error])
def test_a_direct_test_is_cut_out_and_its_script_ends_with_the_status_that_bisect_reads(
    function: Any, tmp_path: pathlib.Path
) -> None:
    code = failed(function).evidence["reproducer"]
    right = code.replace("value=1", "value=0") if function is drawn else code.replace("value=1", "value=2")
    right = right.replace("{}[subject.value]", "{2: 3}[subject.value]")
    other = code.replace("import torch\n", "import torch\ntorch.no_such_name\n")
    for text, status in ((code, 1), (right, 0), (other, 125)):
        (tmp_path / "script.py").write_text(text, "utf-8")
        done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        words = {0: "does as stated", 1: "does otherwise", 125: "cannot tell (exit status 125): AttributeError"}
        assert words[status] in done.stdout


def plays_itself(subject: Subject) -> None:
    subject.play(WITNESS)
    assert subject.value == 2


@given(number=st.integers(0, 3))
def binds_anew(subject: Subject, number: int) -> None:
    number += 5
    assert number == subject.value


@pytest.mark.parametrize(
    ("function", "why"),
    [(plays_itself, "the test plays plans"), (binds_anew, "the test changes its argument number")],
)
def test_what_cannot_be_cut_out_says_why(function: Any, why: str) -> None:
    evidence = failed(function).evidence
    assert evidence["reproducer"] == ""
    assert f"no stand-alone script: {why}" in evidence["message"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "one.two"}, "chapter.topic.point"),
        ({"says": "x" * 110 + "."}, "at most 110"),
        ({"says": "No stop"}, "full stop"),
        ({"says": "It should be so."}, "without 'should'"),
        ({"source": ()}, "source= is missing"),
        ({"docs": "maybe"}, "'contradicts'"),
        ({"readings": (LAST, LAST)}, "one name"),
        ({"readings": (Reading("a", "", "", {"nothing": 1}),)}, "no field of Contract"),
        ({"readings": (LAST, HOOK)}, "witness="),
    ],
)
def test_a_clause_that_breaks_the_rules_is_refused(changes: Any, words: str) -> None:
    arguments = {"id": "self.check.rules", "says": "A sentence.", "source": "measured", **changes}
    with pytest.raises(BadClause, match=words):
        clause(**arguments)(by_plan)


@given(plan=st.just(WITNESS), number=st.integers(0, 3))
def more_than_a_plan(subject: Subject, plan: Plan, number: int) -> None:
    raise NotImplementedError


def test_a_clause_that_no_mode_can_play_is_refused() -> None:
    with pytest.raises(BadClause, match="belongs into it"):
        clause("self.check.rules", says="A sentence.", source="measured")(more_than_a_plan)


def test_a_mode_that_declines_is_refused() -> None:
    def decline(plan: Plan) -> Any:
        raise Refused("hooks on shared modules")

    cell, failure = judge(made(by_plan), dataclasses.replace(subject(), stage=decline), [], [])
    assert failure is None
    assert (cell.verdict, cell.note) == ("refused", "hooks on shared modules")


def in_child(monkeypatch: Any, cell: JudgedCell, code: int | None, causes: Any = ()) -> Any:
    """Judge a cell in a child process, which is none."""

    def run(command: Any, env: Any, **_: Any) -> Any:
        if code == 0:
            line = json.dumps({"type": "cell", **dataclasses.asdict(cell)})
            pathlib.Path(command[4].partition("=")[2]).write_text(line + "\n", "utf-8")
        if code is None:
            pathlib.Path(env[isolate.CHILD]).write_text("a stack")
        return types.SimpleNamespace(returncode=code, stdout=b"")

    monkeypatch.setattr(isolate.subprocess, "run", run)
    found: Judged = isolate.judge_in_child(made(direct), "eager", "2.15.0", "node", [], causes)
    return found.cell, found.failure


def test_a_cell_whose_process_dies_is_crashed_and_fails(monkeypatch: Any) -> None:
    cell, failure = in_child(monkeypatch, JudgedCell("a.b.c", "eager", "conforms"), -11)
    assert (cell.verdict, cell.note, cell.declared) == ("crashed", "SIGSEGV", False)
    assert "declare it" in str(failure)


def test_a_cell_whose_process_does_not_end_is_hung_and_fails(monkeypatch: Any) -> None:
    cell, failure = in_child(monkeypatch, JudgedCell("a.b.c", "eager", "conforms"), None)
    assert (cell.verdict, cell.note) == ("hung", "more than 180 s of processor time, or 600 s of the clock")
    assert "declare it" in str(failure)


def test_a_declared_crash_is_shown_and_forgiven_and_goes_stale(monkeypatch: Any) -> None:
    crash = declared(torch="", facts={}, clauses=(Deviating("a.b.c", "The process dies.", verdict="crashed"),))
    cell, failure = in_child(monkeypatch, JudgedCell("a.b.c", "eager", "conforms"), -11, [crash])
    assert (cell.verdict, cell.declared, failure) == ("crashed", True, None)
    cell, failure = in_child(monkeypatch, JudgedCell("a.b.c", "eager", "conforms"), 0, [crash])
    assert cell.verdict == "unseen"
    assert "stale" in str(failure)


def test_a_cell_that_lives_brings_its_verdict(monkeypatch: Any) -> None:
    given = JudgedCell("a.b.c", "eager", "conforms", reading="one", refuted=["two"])
    assert in_child(monkeypatch, given, 0) == (given, None)


def test_readings_by_release_are_ranges_newest_first() -> None:
    facts = {"retain_grad": "slot"}
    made = by_release(
        ("none", "warning", "silent"),
        ("2.0", "new", 1),
        "It is new.",
        ("1.10", "between", facts, "too"),
        "It is so too.",
        ("", "old", {"a dict": "that is a value"}),
        "It is old.",
    )
    assert made == (
        Reading("new", ">=2.0", "It is new.", value=1),
        Reading("between", ">=1.10,<2.0", "It is so too.", facts, effect="warning"),
        Reading(
            "old", "<1.10", "It is old.", value={"a dict": "that is a value"}, says_the_same=False, effect="silent"
        ),
    )
    (only,) = by_release("none", ("", "ever", None), "It is so.")
    assert (only.torch, only.facts, only.value, only.says_the_same) == ("", {}, None, True)
