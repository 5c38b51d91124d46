"""Finds for each clause that draws plans a mutant of the model that it rejects and few other clauses do.

What only few plans execute, only few clauses can reject: so mutants of the rarest lines are tried first. A mutant that
changes most plans shows nothing about a clause, and is not recorded.
"""

import functools
import json
import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fixtures.clause.clause import CLAUSES
from fixtures.judge.subject import Playable
from suites.selfcheck.all_clauses import drawn
from suites.selfcheck.mutants.clauses import CONTRACT, DRAWING, PLANS, RECORD, REJECTED, accepts
from suites.selfcheck.mutants.model import SMALL, WHOLE, all_mutants, attempt, drawn_once, play
from suites.selfcheck.mutants.mutate import Hung, Mutant, lines_of

#: A mutant that a larger share of plans shows is no fault but a ruin; and how many of each clause are looked at.
MOST, SAMPLE = 0.4, 12


@functools.cache
def sample(small: bool) -> list[tuple[Playable, Any]]:
    """Some plans of the whole grammar, or of small ones, each with what the model makes of it."""
    names = [name for name in DRAWING if CLAUSES[name].played == "program"] if small else WHOLE
    plans = [plan for name in names for plan in drawn_once(name)[:SAMPLE]]
    return [(plan, trace) for plan in plans if not isinstance(trace := attempt(plan, CONTRACT), Exception)]


@functools.cache
def ruins(mutant: Mutant) -> bool:
    """Whether a plan of the whole grammar does not end, or most plans show the change."""
    shown, those = 0, sample(mutant.file in {one.__file__ for one in SMALL})
    for plan, trace in those:
        observed = play(mutant, plan, CONTRACT)
        shown += observed != trace
        if isinstance(observed, Hung) or shown > MOST * len(those):
            return True
    return False


def known_by(name: str) -> Mutant | None:
    """The recorded mutant that a clause rejects: its own, else one of another. Raises ValueError if the model fails."""
    known = dict.fromkeys([REJECTED.get(name, ""), *REJECTED.values()])
    tried = [all_mutants()[one] for one in known if one in all_mutants()]
    for most in PLANS:
        plans = drawn(name, most)
        if not accepts(CLAUSES[name], plans):
            raise ValueError(f"the model fails {name}")
        found = next((one for one in tried if not accepts(CLAUSES[name], plans, one)), None)
        if found:
            return found
    return None


def rejected_by(name: str, order: Sequence[Mutant], seconds: float = math.inf) -> Mutant | None:
    """The first of these mutants that a clause rejects, with few plans or with more; no more are tried in the end."""
    end = time.monotonic() + seconds
    for most in PLANS:
        plans = drawn(name, most)
        for one in order:
            if not accepts(CLAUSES[name], plans, one) and not ruins(one):
                return one
            if time.monotonic() > end:
                return None
    return None


def reached(names: Sequence[str]) -> dict[str, list[Mutant]]:
    """The mutants of what the first plans of each clause execute, those that fewest of these clauses reach first."""
    chosen = list(all_mutants().values())
    files = frozenset(one.file for one in chosen)
    executed = {
        name: lines_of(lambda name=name: accepts(CLAUSES[name], drawn(name, PLANS[0])), files) for name in names
    }
    clauses = Counter(line for lines in executed.values() for line in lines)
    chosen.sort(key=lambda one: max(clauses[one.file, line] for line in one.lines))
    return {
        name: [one for one in chosen if any((one.file, line) in executed[name] for line in one.lines)] for name in names
    }


def record(asked: Sequence[str] = ()) -> int:
    """Write which mutant each clause, or each that is asked for, rejects. Returns 1 where one rejects none."""
    names = asked or DRAWING
    found = {name: REJECTED[name] for name in DRAWING if asked and name in REJECTED}
    none = 0
    for name, order in reached(names).items():
        mutant = rejected_by(name, order)
        found.pop(name, None)
        if mutant:
            found[name] = mutant.name
        none += mutant is None
        print(f"{name:45} {mutant.name if mutant else 'rejects none'}", flush=True)
    RECORD.write_text(json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(names) - none} of {len(names)} clauses reject a mutant, {len(set(found.values()))} mutants in all")
    return int(none > 0)
