"""A tool for authors: programs that break the sentence of a clause.

`python -m suites.selfcheck.core.counterexamples CLAUSE` looks for them.
The clause's own test judges plans of its strategy with up to three additions of the grammar, played on the model, and
the shortest ones that break it are printed, one for each word of the scope that they go beyond. A clause that only
compares traces with the model cannot be broken so. `--words` lists the sentences that say "any", "every", "all",
"whatever" or "however" and name limits or exceptions: read whether both can be true.
"""

from __future__ import annotations

import argparse
import re
import sys

from hypothesis.errors import UnsatisfiedAssumption

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.clause.usual import WORDS
from fixtures.draw.contract import drawing_for
from fixtures.judge.subject import Subject
from fixtures.model.contract import Contract, with_facts
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from suites.selfcheck.all_clauses import drawn
from suites.selfcheck.core.random_additions import Adder
from suites.selfcheck.mutants.clauses import CONTRACT, VERSION

WIDE = re.compile(r"\b(any|every|all|whatever|however|always|never)\b", re.IGNORECASE)
SEEDS, MANY, MOST = 40, 400, 3


def breaks(clause: Clause, plan: Plan, facts: Contract) -> str:
    """Return how a clause's own test fails on a plan that the model plays; "" where it does not, or cannot tell."""
    reading = clause.reading_for(VERSION)
    subject = Subject("model", "cpu", VERSION, CONTRACT, reading, lambda played: expect(played, facts))
    try:
        with drawing_for(CONTRACT):
            clause.test()(subject=subject, plan=plan)
    except UnsatisfiedAssumption:
        return ""
    except AssertionError as error:
        return str(error).partition("\n")[0] or "AssertionError"
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""  # the test reads a plan of its own shape, and this one has another: it says nothing
    return ""


def tried(clause: Clause, many: int, seed: int) -> dict[tuple[str, ...], tuple[Plan, str]]:
    """Return the shortest plan that breaks the sentence for each group of words of the scope that it goes beyond."""
    facts = with_facts(CONTRACT, dict(clause.reading_for(VERSION).facts))
    seeds, adder = drawn(clause.id, SEEDS), Adder(seed)
    met = {word.name for word in WORDS for plan in seeds if word.beyond(plan)}
    found: dict[tuple[str, ...], tuple[Plan, str]] = {}
    for _ in range(many):
        plan = adder.added(adder.random.choice(seeds), MOST)
        why = breaks(clause, plan, facts)
        if why:
            beyond = tuple(word.name for word in WORDS if word.beyond(plan) and word.name not in met)
            if beyond not in found or len(repr(plan)) < len(repr(found[beyond][0])):
                found[beyond] = plan, why
    minimal = [key for key in found if not any(set(other) < set(key) for other in found)]
    return {key: found[key] for key in sorted(minimal, key=len)}


def doubtful() -> list[Clause]:
    """Return the clauses whose sentence is wide, and whose limits or exceptions deny it."""
    return [one for one in CLAUSES.values() if WIDE.search(one.says) and (one.where or one.see)]


def main() -> int:
    """Print what was found; 1 where a sentence was broken."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.core.counterexamples", description=__doc__)
    parser.add_argument("clauses", nargs="*", metavar="CLAUSE", help="clauses by their ids or how these begin")
    parser.add_argument("--words", action="store_true", help="list wide sentences that have limits or exceptions")
    parser.add_argument("--many", type=int, default=MANY, help=f"how many plans for each clause (default: {MANY})")
    parser.add_argument("--seed", type=int, default=5, help="of the additions (default: 5)")
    options = parser.parse_args()
    if options.words:
        for clause in doubtful():
            print(f"{clause.id}  {clause.says}\n    {clause.limits}  see {', '.join(clause.see)}")
        return 0
    asked = [one for one in CLAUSES.values() if one.id.startswith(tuple(options.clauses)) and one.plays]
    if not options.clauses or not asked:
        parser.error("name a clause that draws plans, or how its id begins; or --words")
    broken = 0
    for clause in asked:
        found = tried(clause, options.many, options.seed)
        broken += bool(found)
        print(f"{clause.stated}\n  {len(found)} ways to break it in {options.many} plans")
        for beyond, (plan, why) in found.items():
            print(f"  beyond {', '.join(beyond) or 'nothing that its own plans do not do'}: {why}\n    {plan!r}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
