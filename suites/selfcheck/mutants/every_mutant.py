"""Every mutant is killed or excused: those of the model by plans of the whole grammar, those of torch by a clause.

`tox -e faults` runs this; pytest does not find it by itself. An excuse that is not needed fails.
"""

import functools

import pytest

from suites.selfcheck.mutants import installed, model
from suites.selfcheck.mutants.excused import MODEL, TORCH


@functools.cache
def hunter() -> installed.PatientHunter:
    return installed.PatientHunter()


@pytest.mark.parametrize("name", model.all_mutants())
def test_a_plan_kills_a_mutant_of_the_model(name: str) -> None:
    if model.killed(model.all_mutants()[name]):
        assert name not in MODEL, f"a plan shows it: it needs no excuse, which was: {MODEL[name]}"
    else:
        assert name in MODEL, "no plan of the whole grammar shows this change of the model"


@pytest.mark.parametrize("name", installed.all_mutants())
def test_a_clause_rejects_a_mutant_of_torch(name: str) -> None:
    mutant = installed.all_mutants()[name]
    # An excused one is tried on every clause, and so takes as long as a run: only those that can see it are asked.
    chosen = hunter().reaching(mutant) if name in TORCH else hunter()
    catch = chosen.hunt(installed.fault_of(mutant))
    if catch:
        assert name not in TORCH, f"{catch.clauses[0]} rejects it: it needs no excuse, which was: {TORCH[name]}"
    else:
        assert name in TORCH, "no clause rejects this change of torch in a quick search"


def test_every_excuse_is_of_a_mutant() -> None:
    assert set(TORCH) <= set(installed.all_mutants())


def test_every_function_that_is_left_out_is_there() -> None:
    assert set(installed.LEFT_OUT) <= {one.__qualname__ for one in installed.about_hooks()}


def test_every_mutant_that_ends_the_process_is_one() -> None:
    assert set(installed.CRASHING) <= {one.name for one in installed.mutants(installed.about_hooks())}
