"""`faults/caught.json` names for each fault by hand, and for nothing else, the clause that caught it."""

from fixtures.clause.clause import CLAUSES
from suites.selfcheck.faults import FAULTS
from suites.selfcheck.faults.hunt import FIRST, OPEN, RECORDED

#: How many may be caught by the whole grammar: mutants under circumstances are such faults, and cost no line.
MOST = 45


def test_each_fault_has_the_clause_that_caught_it() -> None:
    """`python -m suites.selfcheck.faults --new --write` finds those that are missing. Controls are not to be caught."""
    assert sorted(RECORDED) == sorted(name for name, one in FAULTS.items() if not one.control and name not in OPEN)


def test_each_clause_is_there() -> None:
    assert {name: clause for name, clause in RECORDED.items() if clause not in CLAUSES} == {}


def test_few_are_caught_by_the_whole_grammar() -> None:
    assert sum(clause.startswith(FIRST) for clause in RECORDED.values()) <= MOST
