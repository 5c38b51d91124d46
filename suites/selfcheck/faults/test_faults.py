"""Real torch with a fault is rejected: each fault is caught by a clause, nearly all of them in a quick search.

`python -m suites.selfcheck.faults` prints which clause catches which fault, and how soon.
"""

import functools

import pytest

from suites.selfcheck.faults import FAULTS
from suites.selfcheck.faults.hunt import CHAPTERS, FULL, OPEN, QUICK, Catch, Hunter

APPLY = sorted(name for name, one in FAULTS.items() if one.applies and not one.control)
CONTROLS = sorted(name for name, one in FAULTS.items() if one.control)
#: The clause that sees who calls: it looks at the function that __torch_function__ is reported of.
KNOWS = {"gradient.kinds.subclass"}
LEAST, LEAST_SUBTLE = 70, 25
#: What a quick search must catch of what the full one catches.
SHARE = 0.9


@functools.cache
def hunter(examples: int) -> Hunter:
    return Hunter(examples, prefixes=CHAPTERS)


@functools.cache
def quick(name: str) -> Catch:
    return hunter(QUICK).hunt(FAULTS[name])


def test_there_are_enough() -> None:
    faults = [one for one in FAULTS.values() if not one.control]
    assert len(faults) >= LEAST
    assert sum(one.subtle for one in faults) >= LEAST_SUBTLE
    assert set(OPEN) <= set(FAULTS)


@pytest.mark.parametrize("name", CONTROLS)
def test_the_rewriting_alone_is_not_rejected(name: str) -> None:
    prefixes = ("together.", "backward.", "gradient.", "output.", *FAULTS[name].near)
    catch = Hunter(QUICK, prefixes=prefixes).hunt(FAULTS[name], all_of_them=True)
    assert set(catch.clauses) <= KNOWS, catch.why


@pytest.mark.parametrize("name", APPLY)
def test_a_clause_rejects_it(name: str) -> None:
    if name in OPEN:
        pytest.xfail(OPEN[name])
    catch = quick(name) or hunter(FULL).hunt(FAULTS[name])
    assert catch, f"no clause catches it: {FAULTS[name].says}"
    print(f"{name}: {catch.clauses[0]}, {catch.seconds:.2f} s")


def test_a_quick_search_is_nearly_as_strong() -> None:
    """Of one fault in five: a process knows what it hunted itself, and would hunt again what others did."""
    some = [name for name in APPLY if name not in OPEN][::5]
    assert sum(bool(quick(name)) for name in some) >= SHARE * len(some)
