"""What is kept of modes within what clauses promise, by brute force, both ways.

`python -m suites.selfcheck.core.brute_within` asks: where a sentence is said not to hold in a mode, a plan inside shows
it; where it is said to hold, other plans inside than those of which that was made agree, in the models. All of it takes
an hour: name clauses, or ask for a sample of so many.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from typing import Any

from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import drawing_for
from fixtures.judge.corpus import NEWEST
from suites import within
from suites.selfcheck.all_clauses import drawn, import_suites

FRESH, TRIED = 50, 250


def faults(name: str) -> Iterator[str]:
    """Yield what is kept of a clause and is not so, for each mode and each group of releases that are alike."""
    clause = CLAUSES[name]
    with drawing_for(NEWEST):
        made = within.Asked(clause)
        fresh = within.Asked(clause, list(dict.fromkeys(drawn(name, TRIED))))
        kept = within.kept()["clauses"][name][1]
        for mode in within.modes():
            for minors in made.alike(mode):
                said = within.said_on(kept.get(mode.name, []), minors[-1])
                yield from (
                    f"{name} [{mode.name}, {minors[-1]}]: {one}" for one in wrong(made, fresh, mode, minors[-1], said)
                )


def wrong(made: Any, fresh: Any, mode: Any, minor: str, said: dict[str, Any]) -> Iterator[str]:
    """Yield what other plans show, and what these do not show."""
    by = said.get("by", "")
    if by.startswith("rule "):
        there = within.InMode(made, mode, minor)
        if not any(there.keeps(plan) and (there.by(plan) or "").startswith("rule ") for plan in made.inside):
            yield f"no plan inside is otherwise, {by} is kept"
        return
    if "plans" in said:
        return
    there = within.InMode(fresh, mode, minor)
    for plan in [plan for plan in fresh.inside if there.keeps(plan)][:FRESH]:
        found = there.by(plan)
        if found is not None and found.startswith("rule "):
            yield f"{found} on a plan inside: {plan!r}"
            return


def sample(many: int, seed: str) -> list[str]:
    """Return so many clauses that modes are asked about, others for another seed."""
    every = sorted(clause.id for clause in CLAUSES.values() if within.asked_of(clause))
    return random.Random(seed).sample(every, min(many, len(every)))


def main() -> int:
    """Print what is wrong; 1 where something is."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.core.brute_within", description=__doc__)
    parser.add_argument("clauses", nargs="*", metavar="PREFIX", help="clauses by the beginning of their ids")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them")
    parser.add_argument("--seed", default="1", help="of the sample (default: 1)")
    options = parser.parse_args()
    import_suites()
    names = [name for name in sample(len(CLAUSES), options.seed) if name.startswith(tuple(options.clauses or [""]))]
    count = 0
    for name in names[: options.sample]:
        for fault in faults(name):
            count += 1
            print(fault, flush=True)
    print(f"{count} faults in {len(names[: options.sample])} clauses")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
