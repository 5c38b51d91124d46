"""Each clause that draws plans asserts its sentence: its test alone rejects traces that are changed in what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from fixtures.clause.clause import CLAUSES, Clause, one_reading
from fixtures.draw.plans import plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.selfcheck.author.asserted import EXCEPT, reported
from suites.selfcheck.mutants.clauses import DRAWING

CHECKED = [CLAUSES[name] for name in DRAWING if not CLAUSES[name].checks_model]


@pytest.mark.parametrize("chapter", sorted({one.id.partition(".")[0] for one in CHECKED}))
def test_its_own_assertions_reject_changes_in_what_a_sentence_speaks_of(chapter: str) -> None:
    found = {each for one in CHECKED if one.id.startswith(f"{chapter}.") for each in reported(one)}
    excepted = {(name, what) for name, (what, _) in EXCEPT.items() if name.startswith(f"{chapter}.")}
    listed = "\n".join(f"{name}: {what}" for name, what in sorted(found - excepted))
    assert not listed, f"changed traces pass, write what the sentence says as an assertion:\n{listed}"
    assert excepted <= found, "an exception is not needed"


# --- the check itself ---


def toy(test: Callable[[Subject, Plan], None]) -> Clause:
    drawing = given(plan=plans(kinds=("forward",), least=1))(test)
    says = "A forward hook is called once, is given the output, and runs before the call raises nothing."
    return replace(
        CLAUSES["output.replacement.none_keeps"], says=says, readings=one_reading(says, None, {}, ""), function=drawing
    )


def compares(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


def stumbles(subject: Subject, plan: Plan) -> None:
    _ = [None][subject.holds(plan) != subject.expect(plan)]


def asserts(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan) == subject.expect(plan)


@pytest.mark.parametrize("test", [compares, stumbles])
def test_a_test_that_asserts_nothing_is_reported_by_name(test: Callable[[Subject, Plan], None]) -> None:
    assert ("output.replacement.none_keeps", "what is called") in reported(toy(test))


def test_one_that_asserts_all_is_not() -> None:
    assert reported(toy(asserts)) == {("output.replacement.none_keeps", "an error")}, "no plan of it raises"
