"""Mutants of the model that are wrong in some circumstances only: faults that nobody has to write by hand.

A circumstance is a word of `fixtures/clause/usual.py`: what a program may have beyond the usual one. A mutant under two
words is the model, but for plans that have both; a plan that has both and shows the mutant shows that fault. So each
mutant and each pair of words make a fault, and it is counted of how many the plans of the whole grammar show.
"""

import contextlib
import functools
import itertools
from collections.abc import Sequence
from typing import Any

from fixtures.clause.usual import WORDS
from fixtures.graph.errors import TooLarge
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from suites.selfcheck.all_clauses import drawn
from suites.selfcheck.mutants.clauses import CONTRACT
from suites.selfcheck.mutants.model import SMALL, WHOLE, all_mutants, play
from suites.selfcheck.mutants.mutate import Hung, Mutant, lines_of

#: Plans of each clause of the whole grammar, and every how many-th mutant is tried with them.
EACH, STEP = 12, 10
#: The share of faults under one word, and under two, that these plans must show: measured were 0.85 and 0.69.
LEAST = {1: 0.83, 2: 0.66}


@functools.cache
def cases(each: int) -> Sequence[tuple[Plan, Any]]:
    """The first plans of each clause of the whole grammar, with the traces that the model leaves."""
    made: dict[str, tuple[Plan, Any]] = {}
    for name in WHOLE:
        for plan in drawn(name, each):
            with contextlib.suppress(TooLarge):
                made[repr(plan)] = plan, expect(plan, CONTRACT)
    return list(made.values())


@functools.cache
def lines(each: int) -> Sequence[set[Any]]:
    """The lines of the model that each of these plans executes: a change elsewhere it cannot show."""
    files = frozenset(one.file for one in all_mutants().values())
    return [lines_of(lambda plan=plan: expect(plan, CONTRACT), files) for plan, _ in cases(each)]


def shown_by(mutant: Mutant, each: int) -> set[int]:
    """The places of the plans that show a mutant. One that does not end is wrong whatever a plan has: it is none."""
    found: set[int] = set()
    for place, (plan, trace) in enumerate(cases(each)):
        if any((mutant.file, line) in lines(each)[place] for line in mutant.lines):
            observed = play(mutant, plan, CONTRACT)
            if isinstance(observed, Hung):
                return set()
            if observed != trace:
                found.add(place)
    return found


@functools.cache
def some(step: int, each: int) -> Sequence[set[int]]:
    """The places of the plans that show a mutant, for each mutant that any of them shows."""
    small = {one.__file__ for one in SMALL}
    tried = [one for one in all_mutants().values() if one.file not in small][::step]
    return [found for one in tried if (found := shown_by(one, each))]


def share(words: int, step: int = STEP, each: int = EACH) -> float:
    """The share of faults that the plans show: of each mutant under each combination of so many words."""
    having = [{place for place, (plan, _) in enumerate(cases(each)) if word.beyond(plan)} for word in WORDS]
    together = [set.intersection(*those) for those in itertools.combinations(having, words)]
    seen = [bool(found & those) for found in some(step, each) for those in together]
    return sum(seen) / len(seen)
