"""Every clause that draws plans can fail: the model passes it and a mutant does not. A sample of all mutants is killed.

`suites/selfcheck/mutants/every_mutant.py` has them all, and those of the installed torch: `tox -e faults` runs it.
"""

import subprocess
from typing import Any

import pytest

from fixtures.clause.clause import CLAUSES
from suites.selfcheck.all_clauses import draws_plans
from suites.selfcheck.mutants import circumstances
from suites.selfcheck.mutants.clauses import DRAWING, REJECTED
from suites.selfcheck.mutants.excused import MODEL
from suites.selfcheck.mutants.model import ROOT, all_mutants, killed
from suites.selfcheck.mutants.mutate import Mutant, mutants
from suites.selfcheck.mutants.record import known_by

#: How many mutants are tried here: of the files that changed, and where none did, of all.
CHANGED, UNCHANGED = 40, 20


def changed_files() -> set[str]:
    """The files that differ from the last commit of main."""
    listed = subprocess.run(["git", "diff", "--name-only", "main", "--"], cwd=ROOT, capture_output=True, text=True)
    return {str(ROOT / name) for name in listed.stdout.splitlines()}


def sample() -> list[str]:
    """The same names in each run and each process, as long as no file changes."""
    changed = changed_files()
    own = [name for name, one in all_mutants().items() if one.file in changed]
    names, size = (own, CHANGED) if own else (list(all_mutants()), UNCHANGED)
    names = [name for name in names if name not in MODEL]
    return names[:: max(1, len(names) // size)][:size]


@pytest.mark.parametrize("name", DRAWING)
def test_the_model_passes_and_a_mutant_does_not(name: str) -> None:
    assert known_by(name), f"no recorded mutant does: `python -m suites.selfcheck.mutants --record {name}` tries all"


@pytest.mark.parametrize("name", sorted(name for name, one in CLAUSES.items() if not draws_plans(one)))
def test_a_clause_without_plans_has_a_reading_to_refute(name: str) -> None:
    assert len(CLAUSES[name].readings) > 1


def test_every_excuse_of_the_model_is_of_a_mutant() -> None:
    """Here too, since `tox -e faults` takes an hour and a half: the model may change between two runs of it."""
    assert set(MODEL) <= set(all_mutants())


def test_what_is_recorded_is_there() -> None:
    assert set(REJECTED.values()) <= set(all_mutants())
    assert set(REJECTED) <= set(CLAUSES)


@pytest.mark.parametrize("name", sample())
def test_a_plan_kills_it(name: str) -> None:
    assert killed(all_mutants()[name]), "no plan of the whole grammar shows this change of the model"


@pytest.mark.parametrize(("words", "least"), circumstances.LEAST.items())
def test_plans_show_mutants_that_are_wrong_in_circumstances_only(words: int, least: float) -> None:
    share = circumstances.share(words)
    print(f"under {words} of the words of a usual program {share:.1%} of the faults are shown")
    assert share >= least, "the plans of the whole grammar meet fewer combinations of words than they did"


@pytest.mark.parametrize(("words", "least"), circumstances.LEAST.items())
def test_a_third_of_the_plans_shows_too_few_of_them(words: int, least: float) -> None:
    assert circumstances.share(words, each=circumstances.EACH // 3) < least


# --- the mutator ---


class Small:
    """Something to change."""

    def last(self, items: list[int], found: int = 0) -> int:
        for item in items:
            if item > 0 and not item >= 5:
                found = item
        return found


def twice(items: dict[str, int]) -> None:
    items.pop("a")
    items.pop("a")


def test_every_change_has_a_name() -> None:
    names = [one.name.removeprefix(f"{__name__}.Small.last: ") for one in mutants([Small.last])]
    assert names == [
        "nothing: items",
        "reversed: items",
        "first only: items",
        "returns None: found",
        "left out: found = item",
        "always: item > 0 and (not item >= 5)",
        "never: item > 0 and (not item >= 5)",
        "and/or: item > 0 and (not item >= 5)",
        "limit: item > 0",
        "without not: not item >= 5",
        "limit: item >= 5",
    ]


def results(chosen: list[Mutant]) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in chosen:
        with one.on():
            found[one.name.partition(": ")[2]] = Small().last([0, 1, 5, 2])
    return found


def test_a_mutant_changes_the_function_for_a_while() -> None:
    found = results(mutants([Small.last]))
    assert Small().last([0, 1, 5, 2]) == 2
    assert found["reversed: items"] == 1
    assert found["returns None: found"] is None
    assert found["left out: found = item"] == 0
    assert found["without not: not item >= 5"] == 5


def test_a_function_is_whole_again_after_an_error() -> None:
    code = Small.last.__code__
    wrong: list[Any] = [None]
    with pytest.raises(TypeError), mutants([Small.last])[1].on():
        Small().last(wrong)
    assert Small.last.__code__ is code


def test_the_same_text_twice_has_two_names() -> None:
    names = [one.name.partition(": ")[2] for one in mutants([twice])]
    assert names == ["left out: items.pop('a')", "left out: items.pop('a') #2"]
