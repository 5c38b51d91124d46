"""`faults/caught.json` names for each fault by hand, and for nothing else, the clause that caught it."""

from fixtures.clause.clause import CLAUSES
from suites.selfcheck.faults import FAULTS
from suites.selfcheck.faults.hunt import FIRST, RECORDED

#: How many may be caught by the whole grammar: mutants under circumstances are such faults, and cost no line.
MOST = 40


def test_each_fault_but_controls_has_the_clause_that_caught_it() -> None:
    """`python -m suites.selfcheck.faults --new --write` finds those that are missing."""
    assert sorted(RECORDED) == sorted(name for name, one in FAULTS.items() if not one.control)


def test_each_clause_is_there() -> None:
    assert {name: clause for name, clause in RECORDED.items() if clause not in CLAUSES} == {}


def test_few_are_caught_by_the_whole_grammar() -> None:
    assert sum(clause.startswith(FIRST) for clause in RECORDED.values()) <= MOST
