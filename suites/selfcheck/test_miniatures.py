"""The whole grammar sees the fault of each miniature; and a clause that draws no plans has a wrong reading.

That each clause which draws plans can fail, mutants show: `test_mutants.py`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from fixtures.graph.graph import TooLarge
from fixtures.judge.clause import CLAUSES
from fixtures.model import miniatures_engine, miniatures_structures, miniatures_values
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.miniatures import FAULTS
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from fixtures.stages.stage import missing
from suites.selfcheck.everything import drawn, draws_plans, import_suites

#: The whole grammar is wide, and its first plans are the simplest.
MANY = 240
CONTRACT = contract_for(installed_version())

import_suites()
assert all((miniatures_engine, miniatures_structures, miniatures_values))  # importing them registers their faults
DRAWING = sorted(name for name, one in CLAUSES.items() if draws_plans(one) and not missing(one.needs))


def shows(plan: Plan, lib: Callable[..., Any]) -> bool:
    """Whether the plan alone tells a faulty miniature from the faithful one; what is not exact tells nothing."""
    try:
        return expect(plan, CONTRACT, lib) != expect(plan, CONTRACT)
    except TooLarge:
        return False


def test_every_fault_is_caught_by_a_clause_of_together() -> None:
    """A fault that the whole grammar cannot see would be no fault, or a hole in the grammar."""
    missed = dict(FAULTS)
    for name in sorted(DRAWING, key="together.grammar.everything".__ne__):
        for plan in drawn(name, MANY) if missed and name.startswith("together.") else ():
            missed = {fault: lib for fault, lib in missed.items() if not shows(plan, lib)}
    assert not missed


@pytest.mark.parametrize("name", sorted(name for name, one in CLAUSES.items() if not draws_plans(one)))
def test_a_clause_without_plans_has_a_reading_to_refute(name: str) -> None:
    assert len(CLAUSES[name].readings) > 1
