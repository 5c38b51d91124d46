"""Every clause that draws plans can fail: the faithful miniature passes it and at least one faulty one does not."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import UnsatisfiedAssumption

from fixtures.judge.clause import CLAUSES, Clause
from fixtures.judge.subject import Subject
from fixtures.model import miniatures_engine, miniatures_structures, miniatures_values
from fixtures.model.contract import contract_for, installed_version, with_facts
from fixtures.model.graph import TooLarge
from fixtures.model.miniatures import FAULTS
from fixtures.model.module import Model, expect
from fixtures.plan.grammar import Plan
from fixtures.play.stage import missing
from suites.selfcheck.everything import draws_plans, import_suites

#: Mostly a few plans are enough to see a fault; where not, more are drawn.
PLANS = (15, 60)
#: The whole grammar is wider, and its first plans are the simplest.
MANY = 240
VERSION = installed_version()
CONTRACT = contract_for(VERSION)

import_suites()
assert all((miniatures_engine, miniatures_structures, miniatures_values))  # importing them registers their faults
DRAWING = sorted(name for name, one in CLAUSES.items() if draws_plans(one) and not missing(one.needs))


def subject(clause: Clause, stage: Callable[[Plan], Any]) -> Subject:
    return Subject("miniature", "cpu", VERSION, CONTRACT, clause.reading_for(VERSION), stage)


def drawn(clause: Clause, most: int) -> list[Plan]:
    """Some plans of a clause, the same in each run."""
    plans: list[Plan] = []
    strategy = clause.function.hypothesis._given_kwargs["plan"]  # type: ignore[attr-defined]

    @settings(
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(plan=strategy)
    def collect(plan: Plan) -> None:
        plans.append(plan)

    collect()
    return plans


def accepts(clause: Clause, plan: Plan, lib: Callable[..., Any]) -> bool:
    """Whether the clause's own test passes when `lib`, made for the clause's reading, is what is under test."""
    facts = with_facts(CONTRACT, dict(clause.reading_for(VERSION).facts))
    try:
        clause.test()(subject=subject(clause, lambda given: expect(given, facts, lib)), plan=plan)
    except UnsatisfiedAssumption:
        return True
    except AssertionError:
        return False
    return True


def shows(plan: Plan, lib: Callable[..., Any]) -> bool:
    """Whether the plan alone tells a faulty miniature from the faithful one; what is not exact tells nothing."""
    try:
        return expect(plan, CONTRACT, lib) != expect(plan, CONTRACT)
    except TooLarge:
        return False


@pytest.mark.parametrize("name", DRAWING)
def test_faithful_passes_and_a_fault_does_not(name: str) -> None:
    clause = CLAUSES[name]
    for most in PLANS:
        plans = drawn(clause, most)
        assert all(accepts(clause, plan, Model) for plan in plans), "the faithful miniature fails this clause"
        if any(not accepts(clause, plan, lib) for lib in FAULTS.values() for plan in plans):
            return
    raise AssertionError("no faulty miniature fails this clause: it cannot fail, or a fault is missing")


def test_every_fault_is_caught_by_a_clause_of_together() -> None:
    """A fault that the whole grammar cannot see would be no fault, or a hole in the grammar."""
    missed = dict(FAULTS)
    for name in sorted(DRAWING, key="together.grammar.everything".__ne__):
        for plan in drawn(CLAUSES[name], MANY) if missed and name.startswith("together.") else ():
            missed = {fault: lib for fault, lib in missed.items() if not shows(plan, lib)}
    assert not missed


@pytest.mark.parametrize("name", sorted(name for name, one in CLAUSES.items() if not draws_plans(one)))
def test_a_clause_without_plans_has_a_reading_to_refute(name: str) -> None:
    assert len(CLAUSES[name].readings) > 1
